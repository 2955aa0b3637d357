//! What became of a run, for the shell.

use super::Told;

/// What became of a run.
pub(crate) struct CameTo {
    /// Any trial is a measurement.
    pub(crate) is_measured: bool,
    /// Rows that would be ranked and whose figures answer nothing: the first, and how many.
    pub(crate) in_vain: Option<(String, usize)>,
}

impl Told<'_> {
    pub(crate) fn came_to(&self) -> CameTo {
        let mut in_vain = self.board.in_vain();
        let first = in_vain.next().map(|(table, row)| {
            format!("{}, {} at {}", self.title(&row.subject), table.workload, row.point)
        });
        CameTo {
            is_measured: self.rows().any(|(_, row)| 0 < row.measured()),
            in_vain: first.map(|first| (first, 1 + in_vain.count())),
        }
    }
}
