//! Requests whose answers are files: what a server is given to serve, and how it names the versions of that.

use wire::{BodyRule, FileRule, Files, Meaning, Request, Validators};

use super::{AskKeys, Question, Workload};
use crate::source_file::ConfigError;

impl AskKeys {
    /// Whether the answer is the file that the request names.
    pub(super) fn is_file(&self) -> bool {
        self.file.as_ref().is_some_and(|file| *file.get_ref())
    }
}

/// The rule for the answer to a request that names a file.
pub(super) fn rule(keys: &AskKeys, request: &Request) -> Result<FileRule, &'static str> {
    if keys.status.is_some() {
        return Err("the status of a file follows from the request; leave `status` out");
    }
    if request.method != "GET" {
        return Err("a file is requested with GET");
    }
    FileRule::of(&request.target, &request.headers)
}

impl Workload {
    /// The workload for servers that have these files.
    #[must_use]
    pub fn with_files(mut self, files: &Files) -> Workload {
        for body in self.bodies() {
            if let BodyRule::File(rule) = body {
                *rule = rule.clone().with(files);
            }
        }
        self
    }

    /// Whether any answer of it is a file.
    #[must_use]
    pub fn has_files(&self) -> bool {
        self.questions.iter().any(|question| question.file_rule().is_some())
    }

    /// Whether right answers are made of what a server is given when dyno starts it: a data set, files.
    #[must_use]
    pub fn needs_data(&self) -> bool {
        self.has_files() || self.meanings().any(|rule| matches!(rule, Meaning::Items { .. }))
    }

    /// The number of the first request that wants a file as it is, if validators have to be learnt by it.
    #[must_use]
    pub(crate) fn teaches_validators(&self) -> Option<usize> {
        let is_wanted = self.questions.iter().any(Question::is_conditional);
        let is_plain = |it: &Question| it.file_rule().is_some_and(FileRule::is_plain);
        is_wanted.then(|| self.questions.iter().position(is_plain)).flatten()
    }

    /// Refuses a request that names a version where none asks for a file as it is, by which versions are learnt.
    pub(super) fn refuse_unknown_validators(&self) -> Result<(), ConfigError> {
        let is_asked_for = self.questions.iter().any(Question::is_conditional);
        if is_asked_for && self.teaches_validators().is_none() {
            let says = "versions of files are learnt by a request for a file as it is; add one, with `Accept-Encoding = \
                        \"identity\"`";
            return Err(self.source.wrong(None, says));
        }
        Ok(())
    }

    /// The workload for a server that names the versions of its files so; without conditional requests if it does not.
    pub fn knowing(&self, validators: Option<&Validators>) -> Result<Workload, String> {
        let mut workload = self.clone();
        match validators {
            None => workload.questions.retain(|question| !question.is_conditional()),
            Some(validators) => {
                let conditional = |it: &&mut Question| it.is_conditional();
                for question in workload.questions.iter_mut().filter(conditional) {
                    *question = question.knowing(validators)?;
                }
            }
        }
        Ok(workload)
    }
}

impl Question {
    fn file_rule(&self) -> Option<&FileRule> {
        match &self.ask.expect.body {
            BodyRule::File(rule) => Some(rule),
            BodyRule::Any
            | BodyRule::Exactly(_)
            | BodyRule::Length(_)
            | BodyRule::Sha256(_)
            | BodyRule::Meaning(_) => None,
        }
    }

    fn is_conditional(&self) -> bool {
        self.file_rule().is_some_and(FileRule::is_conditional)
    }

    fn knowing(&self, validators: &Validators) -> Result<Question, String> {
        let request = self.request.clone().with_validators(validators);
        let mut expect = self.ask.expect.clone();
        if let BodyRule::File(rule) = expect.body {
            expect.body = BodyRule::File(rule.knowing(validators));
        }
        self.remade(request, &expect)
    }
}
