//! A run as Markdown.

use super::*;
use crate::render::markdown_text as shown;
use expect_test::expect;

#[test]
fn a_curve_has_each_at_its_best_and_then_every_load() {
    expect![[r#"
        **Which of two answers, and how fast?** (two · run 7 · 2026-11-21 13:28 UTC)

        | rank | server | requests/s | throughput/s | offered/s | on time (5 s) | p50 | p99 | failed | verdict | CPU/1k | rounds |
        | --- | --- | --: | --: | --: | --: | --: | --: | --: | --- | --: | --: |
        | – | Quick | 2,000 | ≥2,002 \[1,977–2,028\] | 2,002 | 100% | 1.05ms | 1.05ms | 0% | valid | 250ms | 2 |
        | – | Evil ␛\[31m | 1,000 | 1,000? | 1,000 | 100% | 1.00ms | 1.00ms | 0% | suspect | 500ms | 1 of 2, 1 × died |

        <details><summary>every row and column</summary>

        | rank | server | requests/s | throughput/s | offered/s | on time (5 s) | p50 | p99 | failed | verdict | CPU/1k | rounds | sd | p90 | p99.9 | max | start-up | failures by kind | version |
        | --- | --- | --: | --: | --: | --: | --: | --: | --: | --- | --: | --: | --: | --: | --: | --: | --: | --- | --- |
        | – | Quick | 1,000 | 1,002 \[977–1,028\] | 1,002 | 100% | 1.05ms | 1.05ms | 0% | valid | 499ms | 2 | 0ns | 1.05ms | 1.05ms | 1.10ms | 32ms | – | 1.2 |
        | 1 | Quick | 2,000 | 2,002 \[1,977–2,028\] | 2,002 | 100% | 1.05ms | 1.05ms | 0% | valid | 250ms | 2 | 0ns | 1.05ms | 1.05ms | 1.10ms | 34ms | – | 1.2 |
        | – | Evil ␛\[31m | 1,000 | 1,000? | 1,000 | 100% | 1.00ms | 1.00ms | 0% | suspect | 500ms | 1 of 2, 1 × died | 0ns | 1.00ms | 1.00ms | 1.00ms | 31.0ms | – | =cmd\|' /C calc'\!A0\*\*\* |
        | 2 | Evil ␛\[31m | 2,000 | 1,170↓? \[900–1,540\] | 1,200 | 98% | 180ms | ≥949ms | 2.1% | suspect | 430ms | 2 | ≥435ms | 180ms | ≥949ms | ≥5.00s | 35ms | 400 recv.deadline, 100 connect.no\_ports | =cmd\|' /C calc'\!A0\*\*\* |

        </details>

        | server | keeps it up to | breaks it at | by | knee |
        | --- | --: | --: | --- | --: |
        | Quick | ≥2,000 | – | – | 2,000 |
        | Evil ␛\[31m | no rate tried | 1,000 | a round failed | 1,000 |"#]]
    .assert_eq(&parts(&Findings::usual().markdown(), &["**Which", "| ", "<details>", "</details>"]));
}

#[test]
fn nothing_that_others_wrote_acts() {
    const HOSTILE: &str = "<script>x</script>|`[a](javascript:x)![i](//e) **b** &lt; $x$ @all #1 https://e www.e \n# h\n\n---\u{1b}[2J\u{202e}";
    let named = |name: &str| {
        let findings = Findings::after(|run, _| {
            for entry in &mut run.entries {
                entry.title = name.into();
                entry.version = name.into();
                entry.processes = name.into();
            }
            run.facts[0].value = name.into();
        });
        findings.markdown()
    };
    let (text, plain) = (named(HOSTILE), named("plain"));
    assert_eq!(text.lines().count(), plain.lines().count(), "it made lines of its own");
    let bars = |text: &str| -> Vec<usize> {
        let unescaped = text.replace("\\|", "");
        unescaped.lines().map(|line| line.matches('|').count()).collect()
    };
    assert_eq!(bars(&text), bars(&plain), "it made cells of its own");
    for odd in ["\u{1b}", "\u{202e}", "https:/", "www."] {
        assert!(!text.contains(odd), "{odd}: {text}");
    }
    let shown = shown(HOSTILE);
    for character in "`*_[]<>|$#!&@".chars() {
        let bare = shown.match_indices(character).find(|(at, _)| !shown[..*at].ends_with('\\'));
        assert_eq!(bare, None, "{shown}");
    }
}
