use lab::record::RunRecord;
use public::Lineage;
use serde_json::Value;

use super::*;

#[test]
fn nothing_runs_unless_somebody_has_named_the_file_by_its_id() {
    let id = "0123456789abcdef".repeat(4);
    let (lineage, claims) = (Lineage::default(), Value::Null);
    let (record, trials) = (RunRecord::default(), Vec::new());
    let run = PublicRun { id: id.clone(), record, trials, ended: None, lineage, claims };
    let flag = |text: &str| agreed(&run, Some(text), || panic!("nobody is asked")).is_ok();
    assert!(flag(&id) && flag(&id[..32]));
    assert!(!flag(&id[..31]) && !flag(&id[..33]) && !flag("") && !flag(&id[..8]));
    let typed = |text: &str| agreed(&run, None, || Some(text.to_string())).is_ok();
    assert!(typed(&id[..8]));
    assert!(!typed("") && !typed("y") && !typed(&id[..7]) && !typed(&id));
    let says = agreed(&run, None, || None).unwrap_err().to_string();
    assert!(says.contains("--i-have-read ID") && says.contains("--show"), "{says}");
}
