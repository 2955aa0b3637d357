use super::super::read as read_history;
use super::*;

fn line(plan: &str, began: i64, differences: &[f64]) -> GateLine {
    GateLine {
        schema: SCHEMA.into(),
        began_unix_ms: began,
        base: "git:main (1a2b3c4d)".into(),
        base_commit: Some("1a2b3c4d".into()),
        base_is_dirty: Some(false),
        head: "dir:.".into(),
        head_commit: None,
        head_is_dirty: None,
        machine: "here".into(),
        machine_facts: BTreeMap::new(),
        kernel: None,
        dyno_version: "1".into(),
        plan: plan.into(),
        point: 16.0,
        point_unit: "connections".into(),
        figure: Figure::Throughput.name().into(),
        builds: None,
        differences: differences.to_vec(),
        spread: Some(0.01),
        detect_percent: 5.0,
        alpha_percent: 1.0,
        answer: "not_worse".into(),
    }
}

fn written(lines: &[GateLine]) -> String {
    lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect()
}

fn found(text: &str, has_builds: bool) -> Vec<Vec<f64>> {
    let history = read_history(&[("h.jsonl".into(), text.as_bytes().to_vec())]);
    let like = Like { machine: "here", plan: "p", has_builds };
    let found = differences(&history.gates, &like, Figure::Throughput);
    found.into_iter().map(<[f64]>::to_vec).collect()
}

#[test]
fn only_gates_of_this_machine_plan_and_figure_are_alike_and_each_counts_once() {
    let others = [
        GateLine { machine: "there".into(), ..line("p", 3, &[9.0]) },
        line("q", 3, &[8.0]),
        GateLine { figure: Figure::CpuPerThousand.name().into(), ..line("p", 3, &[7.0]) },
        GateLine { builds: Some(5), ..line("p", 3, &[6.0; 12]) },
    ];
    let alike = [line("p", 1, &[0.1, 0.2]), line("p", 2, &[0.3])];
    let text = written(&alike) + &written(&others) + &written(&alike);
    assert_eq!(found(&text, false), [vec![0.3], vec![0.1, 0.2]], "the newest first");
    assert_eq!(found(&text, true), [vec![6.0; 5]], "of five builds five pairs are separate");
    let many: Vec<GateLine> = (0..30).map(|began| line("p", began, &[began as f64])).collect();
    let newest = found(&written(&many), false);
    assert_eq!((newest.len(), newest[0][0], newest[19][0]), (20, 29.0, 10.0));
}

#[test]
fn a_line_that_is_none_is_named_and_the_others_are_read() {
    let good = written(&[line("p", 1, &[0.1, 0.2])]);
    let cut = &good[..good.len() / 2];
    let far = good.replace("[0.1,0.2]", "[0.1,99.0]");
    let unknown = good.replace("\"answer\"", "\"odd\"");
    let text = format!("{good}{cut}\n{far}{unknown}");
    let history = read_history(&[("h.jsonl".into(), text.into_bytes())]);
    assert_eq!(history.gates.len(), 1);
    let why: Vec<(usize, &str)> =
        history.broken.iter().map(|it| (it.number, it.why.as_str())).collect();
    assert_eq!(why[0], (2, "it ends early"));
    assert_eq!(why[1], (3, "its differences are none of pairs"));
    assert!(why[2].0 == 4 && why[2].1.contains("answer"), "{why:?}");
}
