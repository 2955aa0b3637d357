//! Two dynos in containers of their own, the second at any time of the first one's trial.

use super::Dice;
use crate::namespaces::{INSTANTS, a_run_is_deleted_elsewhere, a_second_dyno_begins_elsewhere};

pub(super) fn begun(dice: &mut Dice) -> &'static str {
    came(a_second_dyno_begins_elsewhere(dice.part(INSTANTS)), "left alone")
}

pub(super) fn deleted(dice: &mut Dice) -> &'static str {
    came(a_run_is_deleted_elsewhere(dice.part(INSTANTS)), "refused")
}

fn came(tried: Option<()>, as_wanted: &'static str) -> &'static str {
    tried.map_or("not permitted here", |()| as_wanted)
}
