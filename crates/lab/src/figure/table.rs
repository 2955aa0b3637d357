//! All figures, in the order of the results. A figure's entry is all that there is to say of it: add one here, and it
//! stands in the tables, CSV and JSON with its schema, in `--require` and docs/figures.md.

use super::definition::{Definition, OTHERWISE, definition, figures};
use super::generator::generator_busy;
use super::rates::{measured_s, silent_share, throughput_per_s};
use super::readings;
use super::slope::memory_per_connection;
use super::source::{count, exact, failed_in, milliseconds, moment, percent, quantile, share};
use super::{Better, Column, Fold, Kind, Unit};
use load::{Number, Receipt, RequestForm, SECOND};

use Better::{Higher, Lower, Neither};
use Column::{Main, More, Nowhere};
use Kind::{
    Count, Deviation, Moment, Quantile, QuantileOfDone, Rate, Reading, Share, ShareOfDue, Silence,
    Start,
};
use Unit::{Bytes, KibPerSecond, Milliseconds, PerSecond, Percent};

const DUE: &str = "requests due in the measured time; of sessions, all their calls";
const ANSWERED: &str = "requests due in the measured time and answered as expected; those given up at the time-out, or left at the end, as bounds (≥)";
const MEASURED: &str = "the measured time: after the warm-up, to the end of the schedule or of the duration; in \
    slices, the server's own turns, with the wait for the last answers of each";
const FROM_DUE: &str = "from when the request was due to the last byte of its answer; what comes after the measured time counts";
const FROM_SENT: &str = "from when the request was sent to the last byte of its answer";
const CONNECTIONS: &str =
    "connections begun under load; of a pool, those opened before the measured time, too";
const HANDSHAKES: &str = "TLS handshakes done under load, full and resumed; of a pool, those before the measured time, too";
const TO_CONNECTED: &str = "from the start of a connection until TCP has established it";
const FROM_CONNECTED: &str = "from the established connection to the end of the TLS handshake";
const SILENCES: &str = "times from one correct answer (or the beginning of the measured time) to the next (or its \
     end), over all connections, threads and agents, that are longer than 100 ms, than 10 × the mean time between \
     correct answers, than twice the median of service, and than the p99 of service outside them: of the answers in \
     windows (of 100 ms; wider in a long load) that none of them touches. In a schedule such a time begins when a \
     request is due and not answered; one that failed is not answered. Times of 10 ms or more in which a thread of \
     dyno was not running are subtracted; other servers' turns are not on the clock. In a load of more than 27 \
     minutes, times shorter than a 16,384th of it do not count";
const FILES: &str = "whole answers that are files as the request wanted them";
const SUBJECT: &str = "all processes of the server";
const SERVICE: &str = "all processes of the workload's service; none without one";
const ROWS: &str = "right answers that are made of rows, those before the measured time included; requests without a \
     right answer may have queries, too";
const BETWEEN_QUIET: &str =
    "from an instant before the load at which nothing is asked to one after it";
const FROM_START: &str =
    "from the start of the trial to the end of the measured time, ten readings a second";
const HELD: &str = "connections of the step";
const MESSAGES: &str = "messages that came in the step's measured part";
const STEP: &str = "the step's measured part";
const WHOLE_STEP: &str = "from the step's begin to its end";
const AT_END: &str = "at the step's end";
const TO_AGREED: &str =
    "from the established connection to the head of the answer or the end of the handshake";
const FROM_BEAT: &str = "from when the message was due to when it came";
const FROM_MESSAGE: &str = "from one message to the next on the same connection";

/// The distributions of which `dyno load` prints quantiles, by their names in its JSON: which requests, and from when.
pub const DISTRIBUTIONS: [(&str, &str, &str); 8] = [
    ("response", ANSWERED, FROM_DUE),
    ("service", ANSWERED, FROM_SENT),
    ("first_byte", ANSWERED, "from when the request was sent to the first byte of its answer"),
    (
        "late",
        "requests due in the measured time and sent",
        "from when the request was due and had a free connection, or with HTTP/2 a free stream, to when it was sent",
    ),
    (
        "blocked",
        "of these, those that had to wait for a free connection of the pool",
        "from when the request was due to when a connection, or with HTTP/2 a stream, was free, without the time by \
         which it was sent late",
    ),
    ("connect", CONNECTIONS, TO_CONNECTED),
    ("handshake", HANDSHAKES, FROM_CONNECTED),
    (
        "ready",
        CONNECTIONS,
        "from the end of the handshake, or without TLS from the established connection, to the SETTINGS of an HTTP/2 \
         server",
    ),
];

figures! {
trials {

    Throughput {
        key: "throughput_per_s", heading: "throughput/s", unit: PerSecond, better: Higher, kind: Rate, column: Main(0),
        meaning: "correct answers inside the measured time, divided by that time",
        population: "answers as expected that came in the measured time, whenever their requests were due",
        time: MEASURED,
        trial: |trial| exact(throughput_per_s(trial.recording?)?),
        at_step: Some(Figure::Messages),
    }
    Offered {
        key: "offered_per_s", heading: "offered/s", unit: PerSecond, better: Neither, kind: Rate, column: Main(5),
        meaning: "requests that were due by the schedule",
        population: DUE,
        time: "the part of the measured time in which requests were due; in slices, the server's own turns with the \
            wait for the last answers of each, in which none is due, so that it is below the rate that was ordered; none of a closed loop",
        trial: |trial| exact(trial.offered_per_s?),
    }
    OnTime {
        key: "on_time_percent", heading: "on time", unit: Percent, better: Higher, kind: ShareOfDue, column: Main(3),
        meaning: "requests answered as expected within the limit, of those due",
        population: DUE,
        time: "from when each was due; the limit is the time-out, or `--on-time` or the promised p99 where that is said and less; none of a closed loop",
        trial: |trial| exact(trial.on_time?.share()? * 100.0),
    }
    Attempted {
        key: "attempted", heading: "samples", unit: Unit::Count, better: Neither, kind: Count, column: Nowhere,
        meaning: "requests that were due",
        population: "requests due in the measured time; of sessions, the calls that were begun",
        time: MEASURED,
        trial: |trial| count(trial.total()?.attempted),
    }
    Correct {
        key: "correct", heading: "correct", unit: Unit::Count, better: Higher, kind: Count, column: Nowhere,
        meaning: "requests answered as expected",
        population: "of these, those answered as expected",
        time: "whenever the answer came",
        trial: |trial| count(trial.total()?.correct),
    }
    ResponseMean {
        key: "response_mean_ms", heading: "mean", unit: Milliseconds, better: Lower, kind: Moment, column: Nowhere,
        meaning: "mean response time",
        population: ANSWERED, time: FROM_DUE,
        trial: |trial| moment(&trial.total()?.response, |all| all.mean),
    }
    ResponseSd {
        key: "response_sd_ms", heading: "sd", unit: Milliseconds, better: Lower, kind: Deviation, column: More(4),
        meaning: "standard deviation of the response time",
        population: ANSWERED, time: FROM_DUE,
        trial: |trial| moment(&trial.total()?.response, |all| all.sd),
    }
    ResponseMin {
        key: "response_min_ms", heading: "min", unit: Milliseconds, better: Lower, kind: Moment, column: Nowhere,
        meaning: "shortest response time",
        population: ANSWERED, time: FROM_DUE,
        fold: Some(Fold::Least),
        trial: |trial| moment(&trial.total()?.response, |all| all.min),
    }
    ResponseP50 {
        key: "response_p50_ms", heading: "p50", unit: Milliseconds, better: Lower, kind: Quantile, column: Main(2),
        meaning: "response time of half the requests",
        population: ANSWERED, time: FROM_DUE,
        trial: |trial| quantile(&trial.total()?.response, 0.5),
    }
    ResponseP90 {
        key: "response_p90_ms", heading: "p90", unit: Milliseconds, better: Lower, kind: Quantile, column: More(1),
        meaning: "response time of 90 % of the requests",
        population: ANSWERED, time: FROM_DUE,
        trial: |trial| quantile(&trial.total()?.response, 0.9),
    }
    ResponseP99 {
        key: "response_p99_ms", heading: "p99", unit: Milliseconds, better: Lower, kind: Quantile, column: Main(1),
        meaning: "response time of 99 % of the requests",
        population: ANSWERED, time: FROM_DUE,
        trial: |trial| quantile(&trial.total()?.response, 0.99),
    }
    ResponseP999 {
        key: "response_p99_9_ms", heading: "p99.9", unit: Milliseconds, better: Lower, kind: Quantile, column: More(2),
        meaning: "response time of 99.9 % of the requests",
        population: ANSWERED, time: FROM_DUE,
        trial: |trial| quantile(&trial.total()?.response, 0.999),
    }
    ResponseMax {
        key: "response_max_ms", heading: "max", unit: Milliseconds, better: Lower, kind: Moment, column: More(3),
        meaning: "longest response time",
        population: ANSWERED, time: FROM_DUE,
        fold: Some(Fold::Greatest),
        trial: |trial| moment(&trial.total()?.response, |all| all.max),
    }
    Failed {
        key: "failed", heading: "failures", unit: Unit::Count, better: Lower, kind: Count, column: Nowhere,
        meaning: "requests that failed",
        population: "of the requests in `attempted`, those that failed by any of the classes of failures",
        time: "whenever they failed",
        trial: |trial| count(trial.total()?.failed_in_all()),
    }
    FailedShare {
        key: "failed_percent", heading: "failed", unit: Percent, better: Lower, kind: ShareOfDue, column: Main(3),
        meaning: "requests that failed, of those due",
        population: "`failed`, of `attempted`",
        time: MEASURED,
        trial: |trial| percent(trial.total()?.failed_in_all(), trial.total()?.attempted),
    }
    SilentShare {
        key: "silent_percent", heading: "silent", unit: Percent, better: Lower, kind: Silence, column: More(4),
        meaning: "the time in silences of the server",
        population: SILENCES, time: MEASURED,
        trial: |trial| exact(silent_share(trial.recording?)? * 100.0),
    }
    LongestSilence {
        key: "longest_silence_ms", heading: "longest silence", unit: Milliseconds, better: Lower,
        kind: Silence, column: More(4),
        meaning: "the longest time without a correct answer that is a silence; 0 without one",
        population: "silences, as in `silent_percent`",
        time: MEASURED,
        fold: Some(Fold::Greatest),
        trial: |trial| milliseconds(trial.recording?.silence.longest as f64),
    }
    ServiceP50 {
        key: "service_p50_ms", heading: "service p50", unit: Milliseconds, better: Lower,
        kind: Quantile, column: Nowhere,
        meaning: "from sent to done, half",
        population: ANSWERED, time: FROM_SENT,
        trial: |trial| quantile(&trial.total()?.service, 0.5),
    }
    ServiceP99 {
        key: "service_p99_ms", heading: "service p99", unit: Milliseconds, better: Lower,
        kind: Quantile, column: Nowhere,
        meaning: "from sent to done, 99 %",
        population: ANSWERED, time: FROM_SENT,
        trial: |trial| quantile(&trial.total()?.service, 0.99),
    }
    ReceiveMax {
        key: "receive_max_ms", heading: "receive max", unit: Milliseconds, better: Lower, kind: Moment, column: More(7),
        meaning: "the longest time from the first byte of an answer to its last",
        population: "requests due in the measured time and answered as expected; those whose answer had begun and was given up at the time-out, or left at the end, as bounds (≥)",
        time: "from the read with the first byte of the answer to that with its last; 0 where one read brought all of it",
        fold: Some(Fold::Greatest),
        trial: |trial| {
            let Receipt { longest, given_up } = trial.total()?.receipt?;
            Some(Number { is_bound: 0 < given_up, ..milliseconds(longest as f64)? })
        },
    }
    TimersEarly {
        key: "timers_early_ms", heading: "timers early by", unit: Milliseconds, better: Neither, kind: Moment, column: Nowhere,
        meaning: "the most by which an answer came before the `wait` of its workload was over: the server's timer was \
            early by at least so much; 0 if none came before",
        population: "requests due in the measured time and answered as expected, of workloads with a `wait`; earlier by \
            more than 1 ms is the failure `answer.early`",
        time: FROM_SENT,
        fold: Some(Fold::Greatest),
        trial: |trial| milliseconds(trial.total()?.waited?.early_by as f64),
    }
    TimersEarlyShare {
        key: "timers_early_percent", heading: "early", unit: Percent, better: Neither, kind: Share, column: Nowhere,
        meaning: "answers that came before the `wait` of their workload was over, by 1 ms at most",
        population: "the same",
        time: FROM_SENT,
        trial: |trial| percent(trial.total()?.waited?.early, trial.total()?.waited?.answers),
    }
    FailedAsWritten {
        key: "failed_as_written_percent", heading: "failed as written", unit: Percent, better: Lower, kind: Share, column: More(5),
        meaning: "requests that failed, of those sent as they are written",
        population: "requests due in the measured time and sent in this form, of loads whose requests are varied",
        time: "whenever they failed, and not for a reason on dyno's side",
        trial: |trial| failed_in(trial, RequestForm::AsWritten),
    }
    FailedInOrder {
        key: "failed_in_order_percent", heading: "failed in order", unit: Percent, better: Lower, kind: Share, column: More(5),
        meaning: "requests that failed, of those sent with their fields in another order",
        population: "the same",
        time: "whenever they failed, and not for a reason on dyno's side",
        trial: |trial| failed_in(trial, RequestForm::Order),
    }
    FailedInCase {
        key: "failed_in_case_percent", heading: "failed in case", unit: Percent, better: Lower, kind: Share, column: More(5),
        meaning: "requests that failed, of those sent with their field names in another case",
        population: "the same",
        time: "whenever they failed, and not for a reason on dyno's side",
        trial: |trial| failed_in(trial, RequestForm::Case),
    }
    FailedWithUnknown {
        key: "failed_with_unknown_percent", heading: "failed with unknown", unit: Percent, better: Lower, kind: Share, column: More(5),
        meaning: "requests that failed, of those sent with one more field, which no server knows",
        population: "the same",
        time: "whenever they failed, and not for a reason on dyno's side",
        trial: |trial| failed_in(trial, RequestForm::Unknown),
    }
    FailedInSpaces {
        key: "failed_in_spaces_percent", heading: "failed in spaces", unit: Percent, better: Lower, kind: Share, column: More(5),
        meaning: "requests that failed, of those sent with other white space around the values of their fields",
        population: "the same",
        time: "whenever they failed, and not for a reason on dyno's side",
        trial: |trial| failed_in(trial, RequestForm::Spaces),
    }
    FailedInSegments {
        key: "failed_in_segments_percent", heading: "failed in segments", unit: Percent, better: Lower, kind: Share, column: More(5),
        meaning: "requests that failed, of those sent with a head in two segments, of which the second leaves 1 ms after the first",
        population: "the same",
        time: "whenever they failed, and not for a reason on dyno's side",
        trial: |trial| failed_in(trial, RequestForm::Segments),
    }
    ComparedByBytes {
        key: "compared_by_bytes", heading: "by bytes", unit: Unit::Count, better: Neither, kind: Count, column: Nowhere,
        meaning: "bodies of JSON that were equal, byte for byte, to one that had been parsed and found right; files, to \
            themselves or to a compressed form that had been decoded and found right",
        population: "whole answers whose body is stated by its meaning or is a file",
        time: MEASURED,
        trial: |trial| count(trial.total()?.compared?.by_bytes),
    }
    ComparedByMeaning {
        key: "compared_by_meaning", heading: "by meaning", unit: Unit::Count, better: Neither, kind: Count, column: Nowhere,
        meaning: "bodies of JSON that were parsed and computed again, and files that were decoded, and found right or wrong",
        population: "the same",
        time: MEASURED,
        trial: |trial| count(trial.total()?.compared?.by_meaning),
    }
    FilesPlain {
        key: "files_identity", heading: "identity", unit: Unit::Count, better: Neither, kind: Count, column: Nowhere,
        meaning: "files that came whole and not compressed",
        population: FILES, time: MEASURED, trial: |trial| count(trial.total()?.delivered?.identity),
    }
    FilesGzip {
        key: "files_gzip", heading: "gzip", unit: Unit::Count, better: Neither, kind: Count, column: Nowhere,
        meaning: "files that came compressed by gzip",
        population: FILES, time: MEASURED, trial: |trial| count(trial.total()?.delivered?.gzip),
    }
    FilesBr {
        key: "files_br", heading: "br", unit: Unit::Count, better: Neither, kind: Count, column: Nowhere,
        meaning: "files that came compressed by Brotli",
        population: FILES, time: MEASURED, trial: |trial| count(trial.total()?.delivered?.br),
    }
    Compressed {
        key: "compressed_percent", heading: "compressed", unit: Percent, better: Neither, kind: Share, column: Nowhere,
        meaning: "files that came compressed",
        population: "of these, those to requests that offered gzip or br", time: MEASURED,
        trial: |trial| {
            let files = trial.total()?.delivered?;
            percent(files.gzip + files.br, files.offered)
        },
    }
    RangesIgnored {
        key: "ranges_ignored", heading: "ranges ignored", unit: Unit::Count, better: Neither, kind: Count, column: Nowhere,
        meaning: "files that came whole where a part was wanted, which HTTP allows",
        population: FILES, time: MEASURED, trial: |trial| count(trial.total()?.delivered?.ranges_ignored),
    }
    NotModified {
        key: "not_modified", heading: "not modified", unit: Unit::Count, better: Neither, kind: Count, column: Nowhere,
        meaning: "answers 304 to requests that named the version of the file",
        population: FILES, time: MEASURED, trial: |trial| count(trial.total()?.delivered?.not_modified),
    }
    ConditionsIgnored {
        key: "conditions_ignored", heading: "conditions ignored", unit: Unit::Count, better: Neither, kind: Count, column: Nowhere,
        meaning: "files that came whole although the request named their version, which HTTP allows",
        population: FILES, time: MEASURED, trial: |trial| count(trial.total()?.delivered?.conditions_ignored),
    }
    ConnectP50 {
        key: "connect_p50_ms", heading: "connect p50", unit: Milliseconds, better: Lower,
        kind: QuantileOfDone, column: Nowhere,
        meaning: "time to connect, half",
        population: CONNECTIONS, time: TO_CONNECTED,
        trial: |trial| quantile(&trial.total()?.connect, 0.5),
        at_step: Some(Figure::StepConnectP50),
    }
    TlsP50 {
        key: "tls_p50_ms", heading: "TLS p50", unit: Milliseconds, better: Lower, kind: QuantileOfDone, column: Nowhere,
        meaning: "time of the TLS handshake, half",
        population: HANDSHAKES, time: FROM_CONNECTED,
        trial: |trial| quantile(&trial.total()?.security.as_ref()?.handshake, 0.5),
    }
    TlsP99 {
        key: "tls_p99_ms", heading: "TLS p99", unit: Milliseconds, better: Lower, kind: QuantileOfDone, column: Nowhere,
        meaning: "time of the TLS handshake, 99 %",
        population: HANDSHAKES, time: FROM_CONNECTED,
        trial: |trial| quantile(&trial.total()?.security.as_ref()?.handshake, 0.99),
    }
    TlsResumed {
        key: "tls_resumed_percent", heading: "resumed", unit: Percent, better: Neither, kind: Share, column: Nowhere,
        meaning: "TLS handshakes that resumed a session, of all that were done",
        population: HANDSHAKES, time: "the whole load",
        trial: |trial| {
            let agreed = &trial.total()?.security.as_ref()?.agreed;
            percent(agreed.resumed, agreed.handshakes())
        },
    }
    LateP99 {
        key: "late_p99_ms", heading: "sent late p99", unit: Milliseconds, better: Neither, kind: Quantile, column: Nowhere,
        meaning: "dyno's own delay in sending, 99 %",
        population: "requests due in the measured time and sent",
        time: "from when the request was due and had a free connection, or with HTTP/2 a free stream, to when it was sent; of \
         its wait for one before that, what dyno's stalls have put back the queue: the sum of these since some last \
         waited, each as the share of the connections or streams that were free after it",
        trial: |trial| quantile(&trial.total()?.late, 0.99),
    }
    Received {
        key: "received_kib_per_s", heading: "KiB/s", unit: KibPerSecond, better: Higher, kind: Rate, column: Nowhere,
        meaning: "units of 1,024 bytes received",
        population: "bytes read from the server's connections",
        time: MEASURED,
        trial: |trial| {
            let (total, seconds) = (trial.total()?, measured_s(trial.recording?));
            let received = total.received_inside as f64;
            exact(received / 1_024.0 / seconds)
        },
        at_step: Some(Figure::StepReceived),
    }
    AnswerBytes {
        key: "answer_bytes", heading: "B/answer", unit: Bytes, better: Neither, kind: Rate, column: Nowhere,
        meaning: "bytes of an answer on the wire, on average",
        population: "bytes read, by the whole answers that they were, right or wrong",
        time: "the whole load",
        trial: |trial| exact(share(trial.total()?.bytes_received, trial.whole_answers()?)?),
    }
    CpuPerThousand {
        key: "cpu_ms_per_1000", heading: "CPU/1k", unit: Milliseconds, better: Lower, kind: Reading, column: Main(6),
        meaning: "the server's CPU time for 1,000 correct answers",
        population: SUBJECT,
        time: "CPU time each second of the measured time, by the throughput. On loopback it includes what waking dyno's \
             threads costs, which is alike for all servers (`load.spin`; [µs for an \
             answer](../results/bench.md#what-the-clients-sleep-costs-the-server))",
        trial: |trial| {
            let throughput = throughput_per_s(trial.recording?).filter(|per_s| 0.0 < *per_s)?;
            milliseconds(trial.cpu_ns_per_s()? / throughput * 1_000.0)
        },
        at_step: Some(Figure::StepCpuPerThousand),
    }
    CpuShare {
        key: "cpu_percent", heading: "CPU", unit: Percent, better: Neither, kind: Reading, column: Nowhere,
        meaning: "the server's CPU time; 100 % is one CPU",
        population: SUBJECT, time: MEASURED,
        // 100 % is one CPU, and a subject may have several.
        fold: Some(Fold::Amounts),
        trial: |trial| exact(trial.cpu_ns_per_s()? / SECOND as f64 * 100.0),
        at_step: Some(Figure::StepCpuShare),
    }
    RssPeak {
        key: "rss_peak_bytes", heading: "memory", unit: Bytes, better: Lower, kind: Reading, column: Main(7),
        meaning: "the server's peak memory (RSS)",
        population: SUBJECT, time: FROM_START,
        trial: |trial| exact(readings::peak(trial.watched()?, "subject.memory.rss")?),
        at_step: Some(Figure::RssMax),
    }
    PssPeak {
        key: "pss_peak_bytes", heading: "PSS", unit: Bytes, better: Lower, kind: Reading, column: More(5),
        meaning: "the server's peak memory, shared pages divided among processes",
        population: SUBJECT, time: FROM_START,
        trial: |trial| exact(readings::peak(trial.watched()?, "subject.memory.pss")?),
        at_step: Some(Figure::PssMax),
    }
    ServiceCpuPerThousand {
        key: "service_cpu_ms_per_1000", heading: "service CPU/1k", unit: Milliseconds, better: Lower,
        kind: Reading, column: Main(4),
        meaning: "the CPU time of what works beside the server, such as a database, for 1,000 correct answers",
        population: SERVICE, time: "CPU time each second of the measured time, by the throughput",
        trial: |trial| {
            let throughput = throughput_per_s(trial.recording?).filter(|per_s| 0.0 < *per_s)?;
            milliseconds(trial.service_cpu_ns_per_s()? / throughput * 1_000.0)
        },
    }
    ServiceCpuShare {
        key: "service_cpu_percent", heading: "service CPU", unit: Percent, better: Neither,
        kind: Reading, column: Nowhere,
        meaning: "the CPU time of what works beside the server; 100 % is one CPU",
        population: SERVICE, time: MEASURED,
        fold: Some(Fold::Amounts),
        trial: |trial| exact(trial.service_cpu_ns_per_s()? / SECOND as f64 * 100.0),
    }
    DatabaseQueries {
        key: "database_queries_per_answer", heading: "queries/answer", unit: Unit::Count, better: Neither,
        kind: Count, column: More(8),
        meaning: "queries of the server's role that read the tables, as the database counted them, divided by right \
            answers",
        population: ROWS, time: BETWEEN_QUIET,
        trial: |trial| trial.database_per_answer("reads"),
    }
    DatabaseRows {
        key: "database_rows_per_answer", heading: "rows/answer", unit: Unit::Count, better: Neither,
        kind: Count, column: Nowhere,
        meaning: "rows of the tables that the server's role read, as the database counted them, divided by right answers",
        population: ROWS, time: BETWEEN_QUIET,
        trial: |trial| trial.database_per_answer("rows_read"),
    }
    ServicePssPeak {
        key: "service_pss_peak_bytes", heading: "service memory", unit: Bytes, better: Lower,
        kind: Reading, column: Main(9),
        meaning: "the peak memory of what works beside the server, shared pages divided among processes",
        population: SERVICE, time: FROM_START,
        trial: |trial| exact(readings::peak(trial.watched()?, "service.memory.pss")?),
    }
    MemoryPerConnection {
        key: "memory_per_connection_bytes", heading: "memory/conn.", unit: Bytes, better: Lower,
        kind: Reading, column: Nowhere,
        meaning: "the slope of the server's memory over held connections (PSS where it could be read, else RSS)",
        population: SUBJECT,
        time: "least squares over the steps of a ramp: the mean memory of each against its open connections",
        trial: |trial| exact(memory_per_connection(trial.record?)?),
    }
    StartUp {
        key: "start_up_ms", heading: "start-up", unit: Milliseconds, better: Lower, kind: Start, column: More(6),
        meaning: "from its start to the first correct answer",
        population: SUBJECT, time: "from the start of its command to its first correct answer",
        trial: |trial| milliseconds(trial.launch()?.ready_after? as f64),
    }
    Backlog {
        key: "backlog", heading: "backlog", unit: Unit::Count, better: Neither, kind: Start, column: Nowhere,
        meaning: "of its listening socket, as observed",
        population: SUBJECT, time: "when it was ready",
        trial: |trial| count(trial.launch()?.backlog?.into()),
    }
    Processes {
        key: "processes", heading: "processes", unit: Unit::Count, better: Neither, kind: Start, column: Nowhere,
        meaning: "that it had when it was ready",
        population: SUBJECT, time: "when it was ready",
        trial: |trial| count(trial.launch()?.processes.into()),
    }
    GeneratorBusy {
        key: "generator_busy_percent", heading: "dyno busy", unit: Percent, better: Neither,
        kind: Share, column: Nowhere,
        meaning: "the share of the time in which dyno's threads had something to do",
        population: "dyno's own threads",
        time: "from the load's begin to its end",
        trial: |trial| exact(generator_busy(&trial.recording?.lanes)? * 100.0),
    }
}
steps {

    Open {
        key: "open", heading: "open", unit: Unit::Count, better: Higher, kind: Count, column: Main(0),
        meaning: "connections over which messages could come, at the plateau's end",
        population: HELD, time: AT_END,
        step: |step| count(step.plateau.open),
    }
    StepFailed {
        key: "failed", heading: "failed", unit: Unit::Count, better: Lower, kind: Count, column: Main(2),
        meaning: "connections that never opened, from the step's begin on",
        population: HELD, time: WHOLE_STEP,
        step: |step| count(step.plateau.failed_in_all()),
    }
    Lost {
        key: "lost", heading: "lost", unit: Unit::Count, better: Lower, kind: Count, column: Main(1),
        meaning: "connections that were open and are no more, from the step's begin on",
        population: HELD, time: WHOLE_STEP,
        step: |step| count(step.plateau.lost_in_all()),
    }
    Silent {
        key: "silent", heading: "silent", unit: Unit::Count, better: Lower, kind: Count, column: Main(3),
        meaning: "connections that are open and receive nothing, at the plateau's end",
        population: HELD, time: AT_END,
        step: |step| count(step.plateau.silent),
    }
    Waiting {
        key: "waiting", heading: "waiting", unit: Unit::Count, better: Lower, kind: Count, column: Main(1),
        meaning: "connections that are begun and neither open nor failed, at the plateau's end",
        population: HELD, time: AT_END,
        step: |step| count(step.plateau.opening),
    }
    BegunAgain {
        key: "begun_again", heading: "reopened", unit: Unit::Count, better: Lower, kind: Count, column: More(0),
        meaning: "connections that were begun again after they had failed or been lost",
        population: HELD, time: WHOLE_STEP,
        step: |step| count(step.plateau.begun_again),
    }
    Missed {
        key: "missed", heading: "missed", unit: Unit::Count, better: Lower, kind: Count, column: Main(4),
        meaning: "messages that never came, where they are numbered",
        population: "numbered messages that never came",
        time: STEP,
        step: |step| count(step.plateau.missed),
    }
    StepConnectP50 {
        key: "connect_p50_ms", heading: "connect p50", unit: Milliseconds, better: Lower,
        kind: Quantile, column: More(5),
        meaning: "time to connect (TCP), half of the step's connections",
        population: HELD, time: TO_CONNECTED,
        step: |step| quantile(&step.plateau.connect, 0.5),
    }
    StepConnectP99 {
        key: "connect_p99_ms", heading: "connect p99", unit: Milliseconds, better: Lower,
        kind: Quantile, column: Main(4),
        meaning: "time to connect (TCP), 99 % of them",
        population: HELD, time: TO_CONNECTED,
        step: |step| quantile(&step.plateau.connect, 0.99),
    }
    AgreeP50 {
        key: "agree_p50_ms", heading: "agree p50", unit: Milliseconds, better: Lower, kind: Quantile, column: Nowhere,
        meaning: "from there to the head or the handshake, half",
        population: HELD, time: TO_AGREED,
        step: |step| quantile(&step.plateau.agree, 0.5),
    }
    AgreeP99 {
        key: "agree_p99_ms", heading: "agree p99", unit: Milliseconds, better: Lower, kind: Quantile, column: More(6),
        meaning: "from there to the head or the handshake, 99 %",
        population: HELD, time: TO_AGREED,
        step: |step| quantile(&step.plateau.agree, 0.99),
    }
    PushLateP50 {
        key: "push_late_p50_ms", heading: "late p50", unit: Milliseconds, better: Lower,
        kind: Quantile, column: Main(6),
        meaning: "how late messages came, half of them at most",
        population: MESSAGES, time: FROM_BEAT,
        step: |step| quantile(&step.plateau.late, 0.5),
    }
    PushLateP99 {
        key: "push_late_p99_ms", heading: "late p99", unit: Milliseconds, better: Lower,
        kind: Quantile, column: Main(0),
        meaning: "how late messages came, 99 % of them at most",
        population: MESSAGES, time: FROM_BEAT,
        step: |step| quantile(&step.plateau.late, 0.99),
    }
    PushLateMax {
        key: "push_late_max_ms", heading: "late max", unit: Milliseconds, better: Lower, kind: Moment, column: Main(2),
        meaning: "how late the latest message came",
        population: MESSAGES, time: FROM_BEAT,
        fold: Some(Fold::Greatest),
        step: |step| milliseconds(step.plateau.late.extremes()?.1 as f64),
    }
    OwnLateP99 {
        key: "own_late_p99_ms", heading: "own p99", unit: Milliseconds, better: Neither,
        kind: Quantile, column: Main(7),
        meaning: "the most that dyno itself may have added to a message's lateness, 99 %",
        population: MESSAGES, time: "the turn of dyno's own thread that read the message",
        step: |step| quantile(&step.plateau.own, 0.99),
    }
    GapP50 {
        key: "gap_p50_ms", heading: "gap p50", unit: Milliseconds, better: Neither, kind: Quantile, column: Nowhere,
        meaning: "from one message to the next on a connection, half",
        population: MESSAGES, time: FROM_MESSAGE,
        step: |step| quantile(&step.plateau.gap, 0.5),
    }
    GapP99 {
        key: "gap_p99_ms", heading: "gap p99", unit: Milliseconds, better: Neither, kind: Quantile, column: More(4),
        meaning: "from one message to the next on a connection, 99 %",
        population: MESSAGES, time: FROM_MESSAGE,
        step: |step| quantile(&step.plateau.gap, 0.99),
    }
    Messages {
        key: "messages_per_s", heading: "messages/s", unit: PerSecond, better: Higher, kind: Rate, column: Main(8),
        meaning: "messages that came each second, over whole intervals",
        population: MESSAGES, time: "its whole intervals, where the interval is known; else all of it",
        step: |step| step.measured().and_then(|_| exact(step.plateau.messages_per_s()?)),
    }
    StepCpuShare {
        key: "cpu_percent", heading: "CPU", unit: Percent, better: Neither, kind: Reading, column: Main(3),
        meaning: "the server's CPU time; 100 % is one CPU",
        population: SUBJECT, time: STEP,
        // 100 % is one CPU, and a subject may have several.
        fold: Some(Fold::Amounts),
        step: |step| exact(step.cpu_ns_per_s()? / SECOND as f64 * 100.0),
    }
    StepCpuPerThousand {
        key: "cpu_ms_per_1000", heading: "CPU/1k", unit: Milliseconds, better: Lower, kind: Reading, column: More(7),
        meaning: "the server's CPU time for 1,000 messages",
        population: SUBJECT, time: STEP,
        step: |step| {
            // CPU time and messages over the same seconds, whether or not these are whole beats.
            let messages_per_s = step.plateau.messages as f64 / step.measured_s()?;
            milliseconds(step.cpu_ns_per_s()? / messages_per_s * 1_000.0)
        },
    }
    PssMean {
        key: "pss_mean_bytes", heading: "PSS", unit: Bytes, better: Lower, kind: Reading, column: Main(1),
        meaning: "the server's resident memory with shared pages divided among processes, on average",
        population: SUBJECT, time: STEP,
        step: |step| exact(step.mean("subject.memory.pss")?),
    }
    PssMax {
        key: "pss_max_bytes", heading: "PSS max", unit: Bytes, better: Lower, kind: Reading, column: More(0),
        meaning: "the server's resident memory with shared pages divided among processes, the most",
        population: SUBJECT, time: STEP,
        step: |step| exact(step.greatest("subject.memory.pss")?),
    }
    RssMean {
        key: "rss_mean_bytes", heading: "RSS", unit: Bytes, better: Lower, kind: Reading, column: More(2),
        meaning: "the server's resident memory, on average",
        population: SUBJECT, time: STEP,
        step: |step| exact(step.mean("subject.memory.rss")?),
    }
    RssMax {
        key: "rss_max_bytes", heading: "RSS max", unit: Bytes, better: Lower, kind: Reading, column: More(8),
        meaning: "the server's resident memory, the most",
        population: SUBJECT, time: STEP,
        step: |step| exact(step.greatest("subject.memory.rss")?),
    }
    StepReceived {
        key: "received_kib_per_s", heading: "KiB/s", unit: KibPerSecond, better: Higher, kind: Rate, column: More(9),
        meaning: "units of 1,024 bytes received",
        population: "bytes read from all held connections",
        time: STEP,
        step: |step| exact(step.plateau.bytes as f64 / step.measured_s()? / 1_024.0),
    }
    IoRead {
        key: "io_read_kib_per_s", heading: "read", unit: KibPerSecond, better: Neither, kind: Reading, column: Nowhere,
        meaning: "bytes that the server's `read` and similar calls returned; the kernel does not count `recv`",
        population: SUBJECT, time: STEP,
        step: |step| exact(step.growth_per_s("subject.io.read")? / 1_024.0),
    }
    IoWritten {
        key: "io_written_kib_per_s", heading: "written", unit: KibPerSecond, better: Neither,
        kind: Reading, column: Nowhere,
        meaning: "bytes that the server's `write` and similar calls took; the kernel does not count `send`",
        population: SUBJECT, time: STEP,
        step: |step| exact(step.growth_per_s("subject.io.written")? / 1_024.0),
    }
    GeneratorCpu {
        key: "generator_cpu_percent", heading: "dyno CPU", unit: Percent, better: Neither, kind: Share, column: Nowhere,
        meaning: "CPU time of dyno's threads; 100 % is one CPU",
        population: "dyno's own threads",
        time: STEP,
        fold: Some(Fold::Amounts),
        step: |step| {
            let plateau = step.plateau;
            step.measured().and_then(|_| exact(plateau.cpu as f64 / plateau.measured as f64 * 100.0))
        },
    }
}
}
