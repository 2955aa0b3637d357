//! What a coordinator and the host of its servers say, where a whole run takes place on that host. Lines come in order
//! and none is lost: they go through the pipes of one process.

use core::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::host::Host;
use crate::message::{Greeting, Live};
use crate::parcel::Parcel;

/// What the host of servers obeys. There is nothing else: what is run there is what the files say that its owner trusts.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ToServers {
    Hello(Greeting),
    /// A part of something long; a later line names the whole by its digest.
    Part(Parcel),
    Run(Box<RunOrder>),
    /// The files that were asked for have come, as the whole of this digest.
    Sent {
        whole: String,
    },
    /// The agents of the load have been met, and have so many lanes.
    Met {
        lanes: usize,
        /// Those on other machines, by the agents' names.
        hosts: Vec<(String, Host)>,
        /// What works for the loads on the machine of the servers, if the coordinator is there, too.
        processes: Vec<u32>,
    },
    /// They could not be met.
    NotMet {
        says: String,
    },
    /// What happened lately in a load.
    Window {
        load: u64,
        window: Live,
    },
    /// A load is over; the result has this digest.
    Carried {
        load: u64,
        result: String,
    },
    /// End the run; what is finished is kept.
    Halt,
    /// The coordinator lives.
    Beat,
}

/// A run, as it is ordered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunOrder {
    /// The digest of the project's files.
    pub files: String,
    /// The experiment's name, and its file's name and text.
    pub name: String,
    pub file: String,
    pub text: String,
    /// As it is to be run, in JSON.
    pub experiment: String,
    pub is_unchecked: bool,
    /// CPUs of the servers; none: what the experiment says.
    pub subject_cpus: Option<Vec<usize>>,
    /// The address on which servers listen.
    pub listen_on: IpAddr,
    /// Where the load comes from, for the record.
    pub load_on: String,
    /// What else is to be known of the load and of the host, for the record.
    pub facts: Vec<(String, String)>,
    /// Only show what would be run.
    pub is_shown: bool,
    /// The digest of the run so far, where it was interrupted.
    pub so_far: Option<String>,
}

/// What the host of servers says.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FromServers {
    /// The host; and the address by which it was reached, if that is known.
    Hello(Box<Host>, Option<IpAddr>),
    /// A part of something long; a later line names the whole by its digest.
    Part(Parcel),
    /// The host does not do it, or cannot go on.
    Refused {
        says: String,
    },
    /// It does not have the files of this digest.
    Need {
        files: String,
    },
    /// A sentence for the user.
    Notice {
        says: String,
    },
    /// What would be run.
    Shown {
        text: String,
    },
    Building {
        name: String,
        command: String,
    },
    /// A build failed: the last lines of its log.
    BuildLog {
        name: String,
        tail: String,
    },
    Excluded {
        subject: String,
        why: String,
    },
    /// Meet the agents of the load.
    Meet,
    /// The run has begun; the store with this digest has its row.
    Began {
        store: String,
    },
    Checks {
        subjects: usize,
        cases: usize,
    },
    Checking {
        subject: String,
        place: usize,
        subjects: usize,
        done: usize,
        cases: usize,
    },
    /// The trials that are still possible, by their numbers in the plan.
    Left {
        trials: Vec<u32>,
    },
    FirstRoundKept,
    Begun {
        trial: u32,
    },
    Launched {
        trial: u32,
        pid: u32,
        port: u16,
    },
    Ready {
        trial: u32,
        after: u64,
    },
    /// A question was answered; wrongly, if something was wrong.
    Answered {
        trial: u32,
        ask: String,
        wrong: Option<String>,
    },
    /// A server's processes lately: nanoseconds of CPU time each second, and octets of memory.
    Vitals {
        cpu: Option<f64>,
        memory: Option<f64>,
    },
    /// Carry out the order of this digest.
    Load {
        load: u64,
        order: String,
    },
    /// End this load early.
    HaltLoad {
        load: u64,
    },
    /// Trials and checks were kept; the store with this digest has them.
    Kept {
        store: String,
    },
    Again {
        trial: u32,
    },
    Abandoned,
    /// The run has ended.
    Ended {
        is_interrupted: bool,
    },
    /// The host lives.
    Alive,
}
