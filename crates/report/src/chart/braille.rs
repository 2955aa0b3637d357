//! Small pictures made of characters: sparklines and a chart in braille.

use load::Nanos;

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

/// A logarithmic axis whose ends are 1, 2 or 5 of a decade.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogAxis {
    pub low: f64,
    pub high: f64,
}

impl LogAxis {
    pub fn around(low: Nanos, high: Nanos) -> LogAxis {
        let low = round(low.max(1) as f64, f64::floor);
        LogAxis { low, high: round(high.max(1) as f64 * 1.001, f64::ceil).max(low * 2.0) }
    }

    /// 0 at the low end, 1 at the high end.
    pub fn share(self, value: Nanos) -> f64 {
        ((value.max(1) as f64 / self.low).ln() / (self.high / self.low).ln()).clamp(0.0, 1.0)
    }
}

/// Rounds to the next 1, 2 or 5 of a decade, below or above.
fn round(value: f64, towards: fn(f64) -> f64) -> f64 {
    let decade = 10_f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0];
    let is_down = towards(0.5) == 0.0;
    let fits =
        |step: &&f64| if is_down { **step * decade <= value } else { value <= **step * decade };
    let step = if is_down { steps.iter().rev().find(fits) } else { steps.iter().find(fits) };
    step.unwrap_or(&1.0) * decade
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

    #[test]
    fn an_axis_ends_at_round_values() {
        let axis = LogAxis::around(130_000, 3_400_000);
        assert_eq!((axis.low, axis.high), (100_000.0, 5_000_000.0));
        assert_eq!((axis.share(100_000), axis.share(5_000_000)), (0.0, 1.0));
        let narrow = LogAxis::around(1, 1);
        assert!(narrow.low < narrow.high);
    }
}
