//! Small pictures made of characters: sparklines and a chart in braille.

/// A block for each value; `top` is a full block.
pub fn sparkline(values: &[f64], top: f64) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let block = |value: &f64| {
        let share = if top <= 0.0 { 0.0 } else { value / top };
        BLOCKS[((share * 8.0).ceil() as usize).clamp(1, 8) - 1]
    };
    values.iter().map(block).collect()
}

/// A canvas of two by four dots a character.
pub struct Braille {
    width: usize,
    height: usize,
    /// A byte of dots for each character, row by row.
    cells: Vec<u8>,
}

impl Braille {
    pub fn new(width: usize, height: usize) -> Braille {
        Braille { width, height, cells: vec![0; width * height] }
    }

    pub fn dots_across(&self) -> usize {
        2 * self.width
    }

    pub fn dots_down(&self) -> usize {
        4 * self.height
    }

    /// Sets a dot; what lies outside is not drawn.
    pub fn dot(&mut self, x: usize, y: usize) {
        // Unicode counts the dots 1 2 3 7 down the left side and 4 5 6 8 down the right one.
        const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        if x < self.dots_across() && y < self.dots_down() {
            self.cells[y / 4 * self.width + x / 2] |= BITS[y % 4][x % 2];
        }
    }

    pub fn cell(&self, column: usize, row: usize) -> u8 {
        self.cells[row * self.width + column]
    }
}

pub fn braille(dots: u8) -> char {
    char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sparkline_has_a_block_for_each_value() {
        assert_eq!(sparkline(&[0.0, 1.0, 4.0, 8.0], 8.0), "▁▁▄█");
        assert_eq!(sparkline(&[0.0], 0.0), "▁");
        assert_eq!(sparkline(&[], 1.0), "");
    }

    #[test]
    fn dots_outside_are_not_drawn() {
        let mut canvas = Braille::new(1, 1);
        canvas.dot(0, 0);
        canvas.dot(1, 3);
        canvas.dot(2, 0);
        canvas.dot(0, 4);
        assert_eq!(braille(canvas.cell(0, 0)), '⢁');
        Braille::new(0, 0).dot(0, 0);
    }
}
