//! An audit as JSON, `dyno.audit/1`: every row that was read, and what speaks against it.

use audit::{Audit, AuditedRow, AuditedSource, Finding, Time, Untested};

use super::document::sentence;
use super::explanation;
use crate::json::json_type;
use crate::verdict::{ExplainedDoubt, ExplainedVerdict};

json_type! {
    /// What others measured, and which of it cannot be true or should not be ranked.
    pub(crate) struct AuditDocument<'a> as "audit", "dyno.audit/1" of audit: Audit;
        let all = audit.sources.iter().flat_map(|source| &source.findings);
        let of_files = all.map(explained).collect();
        let worth = audit.worth();
    {
        /// the answer in plain words
        sentence: String = sentence(audit),
        /// that of the gravest row or file; `doubts` are those about whole files
        verdict: ExplainedVerdict = ExplainedVerdict { word: audit.verdict(), doubts: of_files },
        /// rows that raise no doubt, which does not make them true
        valid: usize = worth.valid,
        /// rows that should not be ranked as they stand
        suspect: usize = worth.suspect,
        /// rows that cannot be true or are no measurement
        invalid: usize = worth.invalid,
        /// each file
        files: Vec<FileJson<'a>> = audit.sources.iter().map(FileJson::from).collect(),
    }
}

json_type! {
    /// A file that was read.
    struct FileJson<'a> as "audited_file" of source: AuditedSource {
        /// its name
        name: &'a str = &source.name,
        /// its format by a stable name
        format: &'static str = source.format.name(),
        /// what is the same in all its rows
        verdict: ExplainedVerdict = verdict(&source.findings),
        /// what its program does not count, or counts otherwise than one expects
        not_counted: Option<&'static str> = explanation::not_counted(source.format),
        /// rules that could not be applied to some rows
        not_asked: Vec<UntestedJson> = source.untested.iter().map(UntestedJson::from).collect(),
        /// each row
        rows: Vec<RowJson<'a>> = source.rows.iter().map(RowJson::from).collect(),
    }
}

json_type! {
    /// A rule that could not be applied.
    struct UntestedJson as "not_asked" of untested: Untested {
        /// the stable name of its finding
        id: &'static str = untested.rule.name(),
        /// of how many rows
        rows: usize,
        /// why
        why: &'static str = explanation::why(untested.why),
    }
}

json_type! {
    /// What was published of one load.
    struct RowJson<'a> as "audited_row" of audited: AuditedRow;
        let row = &audited.row;
        let ns = |time: Option<Time>| time.filter(|_| row.has_unit).map(|time| time.value);
    {
        /// the server, or the file
        name: &'a str = &row.name,
        /// what was loaded how: rows of one load were compared
        place: &'a str = &row.place,
        /// connections; null where the file does not say
        connections: Option<f64> = row.connections,
        /// requests each second
        rate_per_s: Option<f64> = row.rate_per_s,
        /// whether the times of the file have a unit; without one, the times below are null
        has_unit: bool = row.has_unit,
        /// arithmetic mean of the latencies
        mean_ns: Option<f64> = ns(row.mean),
        /// the median latency
        p50_ns: Option<f64> = ns(row.at(0.5)),
        /// 99 % of the latencies are no more
        p99_ns: Option<f64> = ns(row.at(0.99)),
        /// requests, failed ones included
        requests: Option<f64> = row.requests,
        /// requests that failed for certain
        failed: Option<f64> = row.failed,
        /// requests that failed at most: more than `failed` where the file does not say it of all
        failed_at_most: Option<f64> = row.failed.map(|failed| failed + row.unclear),
        /// what speaks against the row
        verdict: ExplainedVerdict = verdict(&audited.findings),
    }
}

fn verdict(findings: &[Finding]) -> ExplainedVerdict {
    ExplainedVerdict::by(findings.iter().map(explained).collect())
}

fn explained(finding: &Finding) -> ExplainedDoubt {
    let rule = finding.rule();
    ExplainedDoubt::new(
        rule.name(),
        finding.gravity(),
        explanation::says(finding),
        explanation::what_to_do(rule),
    )
}
