//! `dyno load --calibrate`: measures, reports, and keeps the result.

use crate::folder::Folder;
use crate::rig::Rig;

#[test]
fn a_quick_calibration_is_kept_and_reported_in_words() {
    let folder = Folder::new();
    Rig::nowhere()
        .dyno(&["load", "--calibrate", "--quick", "-o", &folder.path("calibration.json")])
        .status(0)
        .stdout_has("One thread sends up to")
        .stdout_has("smallest difference in latency that can be seen on this machine")
        .stderr_has("kept in");
    let kept = folder.json("calibration.json");
    assert_eq!(kept["schema"], "dyno.calibration/1");
    assert!(0.0 < kept["ceilings"][1]["throughput_per_s"].as_f64().unwrap());
    // On a machine that is busy for all of a level's time, nothing is known of it.
    let levels = kept["punctuality"].as_array().unwrap();
    assert!(levels.iter().any(|level| level["late_p50_ns"].is_u64()), "{kept:#}");
    assert!(kept["resolution"]["smallest_difference_ns"].is_f64());
}
