//! What TLS, HTTP/2 and full handshakes cost, as JSON.

use analysis::{LeftOut, MannerPrice};
use lab::experiment::Point;
use lab::manner::Task;

use crate::json::json_type;
use crate::run::comparison::json::RowJson as PairJson;
use crate::run::price::why;

json_type! {
    /// What servers pay for one thing under one load, or save by it: figures of a task that has it, divided by
    /// those of a task that has not, round by round.
    pub(super) struct PriceJson<'t> as "manner_price" of price: MannerPrice<'t> {
        /// tls, http2 or resumption
        #[schemars(extend("enum" = ["tls", "http2", "resumption"]))]
        paid_for: &'static str = price.paid_for.name(),
        /// the task without it, which is A in `rows`
        without: TaskJson = (&price.tasks[0]).into(),
        /// the task with it, which is B in `rows`
        with: TaskJson = (&price.tasks[1]).into(),
        #[serde(flatten)]
        point: Point,
        /// each server that has a price: by its first figure, best first; dyno's own server last
        rows: Vec<PairJson<'t>> = price.pairs.iter().map(PairJson::from).collect(),
        /// servers that have both rows, and no price
        left_out: Vec<LeftOutJson<'t>> = price.left_out.iter().map(LeftOutJson::from).collect(),
    }
}

json_type! {
    /// A workload, requested in one manner.
    struct TaskJson as "task" of task: Task {
        /// its name, which is the `workload` of its table
        task: String = task.to_string(),
        /// its workload
        workload: String = task.workload.clone(),
        /// http/1.1, http/1.1+tls, h2c or h2
        #[schemars(extend("enum" = ["http/1.1", "http/1.1+tls", "h2c", "h2"]))]
        protocol: &'static str = task.manner.protocol.name(),
        /// requests at once on a connection, if the server allows as many
        streams: u16 = task.manner.streams.get(),
        /// of a hundred connections, those that are to resume a TLS session
        resumed_percent: u8 = task.manner.resumed,
    }
}

json_type! {
    /// A row because of which its server has no price.
    struct LeftOutJson<'t> as "without_price" of lack: LeftOut<'t> {
        /// the server
        subject: &'t str = &lack.row.subject,
        /// the name of the row's task
        task: &'t str,
        /// not_ranked, not_measured or invalid
        why: String = why(lack).replace(' ', "_"),
    }
}
