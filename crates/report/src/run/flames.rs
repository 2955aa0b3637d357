//! The flame graphs of sampled servers: two of them with their difference on a page, and all in files of their own.

use super::findings::Findings;
use super::why::{SampledLoad, loads};
use crate::document::{Block, Depth, Section};
use crate::flame::FlameGraph;
use crate::markup::Markup;
use crate::render::Chart;

/// The graph of a server, by its place among those of its load; or how it differs from that of another one.
#[derive(Clone, Copy)]
struct Graph {
    server: usize,
    against: Option<usize>,
}

impl Graph {
    fn of(server: usize) -> Graph {
        Graph { server, against: None }
    }

    fn drawn(self, load: &SampledLoad<'_>) -> FlameGraph {
        let (titles, stacks) = (&load.titles, &load.explained.stacks);
        let Graph { server, against } = self;
        match against {
            None => FlameGraph::of(titles[server], &stacks[server]),
            Some(first) => FlameGraph::difference(
                [titles[first], titles[server]],
                [&stacks[first], &stacks[server]],
            ),
        }
    }
}

/// Each server, and then the differences that have a table.
fn all(load: &SampledLoad<'_>) -> Vec<Graph> {
    let explanation = &load.explained.explanation;
    let two = explanation.difference.as_ref().map(|_| Graph { server: 1, against: Some(0) });
    let several = explanation.pairs.iter().filter_map(|pair| {
        Some(Graph { server: load.place(&pair.server)?, against: Some(load.place(&pair.first)?) })
    });
    (0..load.titles.len()).map(Graph::of).chain(two).chain(several).collect()
}

/// For a page: two servers of the first load, and their difference.
pub(crate) fn section(loads: &[SampledLoad<'_>]) -> Section {
    let section = Section::new("flames", "Flame graphs", Depth::Page);
    let Some(load) = loads.iter().find(|load| !load.titles.is_empty()) else { return section };
    let all = all(load);
    let shown = match all.iter().find_map(|graph| Some((graph.server, graph.against?))) {
        Some((server, first)) => {
            vec![Graph::of(first), Graph::of(server), Graph { server, against: Some(first) }]
        }
        None => all.into_iter().take(2).collect(),
    };
    let mut drawn = Markup::default();
    for graph in shown {
        drawn.push(&graph.drawn(load).figure());
    }
    let heading = (1 < loads.len()).then(|| Block::Heading(load.heading.clone()));
    section.with(heading.into_iter().chain([Block::picture(drawn)]))
}

/// Those that are asked for, of the loads of these tasks.
pub(super) fn charts<'t>(
    findings: &'t Findings<'_>,
    is_wanted: impl Fn(&str) -> bool + 't,
) -> impl Iterator<Item = Chart> + 't {
    let wanted = loads(findings).into_iter().filter(move |it| is_wanted(&it.explained.task));
    wanted.flat_map(|load| {
        let graphs = all(&load).into_iter();
        graphs.map(|graph| chart(findings, &load, graph)).collect::<Vec<_>>()
    })
}

fn chart(findings: &Findings<'_>, load: &SampledLoad<'_>, graph: Graph) -> Chart {
    let explained = load.explained;
    // Names may be alike in what a file's name can have of them.
    let name = |place: usize| {
        let name = &explained.explanation.servers[place].server;
        format!("{}-{}", findings.slot(name) + 1, safe(name))
    };
    let against = graph.against.map(|first| format!("-against-{}", name(first)));
    let (task, point) = (safe(&explained.task), safe(&explained.point.value().to_string()));
    let note = format!("{}, {}", load.heading, findings.label());
    Chart {
        name: format!(
            "run-{}-{task}-{point}-flame-{}{}",
            safe(&findings.id),
            name(graph.server),
            against.unwrap_or_default()
        ),
        svg: graph.drawn(load).alone(findings.drawn.theme, &note).into_string(),
    }
}

/// A part of a file's name; a workload's name is one already, unless the store was tampered with.
pub(super) fn safe(name: &str) -> String {
    let safe = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    name.chars().map(safe).take(80).collect()
}
