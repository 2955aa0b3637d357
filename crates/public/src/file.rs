//! A public file as bytes: lines of JSON, compressed by gzip. The first says what the file is, the content follows, line by
//! line or in columns, and behind it are the parts that the id does not cover, each under a digest of its own.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::plain::{self, Tables};

use crate::columns;
use crate::content::{self, Content, digest};
use crate::run::{ENTRIES_MAX, Lineage, PLANNED_MAX, PublicRun};

/// What the first line calls the file. Every later dyno reads version 1.
const FORMAT: &str = "dyno public run";
const VERSION: u32 = 1;
/// No file is larger, nor is one when it is unpacked.
pub const PACKED_MAX: usize = 16 << 20;
pub const UNPACKED_MAX: u64 = 64 << 20;
/// Nor has its content more lines.
const LINES_MAX: usize = 2 * PLANNED_MAX + ENTRIES_MAX + 2;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    format: String,
    version: u32,
    id: String,
    /// How many lines the content has.
    lines: usize,
    /// In how many columns it stands; none in a file that has its lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    columns: Option<usize>,
    /// The digest of each line behind it, by its name.
    parts: BTreeMap<String, String>,
}

/// A line behind the content.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Extra {
    Claims(Value),
    Lineage(Lineage),
    /// The sampled trials.
    Profiles(Vec<Tables>),
}

impl PublicRun {
    /// The file that carries it, with what was sampled only if that is wanted.
    pub fn write(&self, with_profiles: bool) -> Result<Vec<u8>, String> {
        let content = Content::of(&self.record, &self.trials, self.ended);
        let (columns, text) = columns::written(&content);
        let mut extras = vec![Extra::Claims(self.claims.clone()), Extra::Lineage(self.lineage)];
        if with_profiles && !self.record.profiles.is_empty() {
            let refused = |says: String| format!("its profiles: {says}; export it without --why");
            content::check_profiles(&self.record.profiles).map_err(refused)?;
            extras.push(Extra::Profiles(self.record.profiles.iter().map(plain::profile).collect()));
        }
        let written = |extra: &Extra| {
            let line = serde_json::to_string(extra).expect("values of JSON can be written");
            (name(extra).to_string(), line + "\n")
        };
        let extras: Vec<_> = extras.iter().map(written).collect();
        let head = Head {
            format: FORMAT.into(),
            version: VERSION,
            id: self.id.clone(),
            lines: content.0.len(),
            columns: Some(columns),
            parts: extras
                .iter()
                .map(|(name, it)| (name.clone(), digest([&**it].into_iter())))
                .collect(),
        };
        let head = serde_json::to_string(&head).expect("a head can be written") + "\n";
        let extras = extras.into_iter().map(|(_, line)| line);
        let text: String = [head, text].into_iter().chain(extras).collect();
        let mut packer = GzEncoder::new(Vec::new(), Compression::best());
        let packed = packer.write_all(text.as_bytes()).and_then(|()| packer.finish());
        let packed = packed.expect("memory takes what is written to it");
        if PACKED_MAX < packed.len() || UNPACKED_MAX < text.len() as u64 {
            return Err(format!(
                "the file would have {} MB, {} MB unpacked, and at most {} MB, {} MB unpacked, are read; \
                 export a run with fewer trials",
                packed.len() >> 20,
                text.len() >> 20,
                PACKED_MAX >> 20,
                UNPACKED_MAX >> 20
            ));
        }
        Ok(packed)
    }

    /// Whether bytes begin as those of a public file do, and of no store.
    #[must_use]
    pub fn is_one(bytes: &[u8]) -> bool {
        bytes.starts_with(&[0x1f, 0x8b])
    }

    /// Reads a file, which is hostile until parsed: it is one only if it is what this dyno would write of the same
    /// records, byte for byte when unpacked.
    pub fn read(bytes: &[u8]) -> Result<PublicRun, String> {
        let text = unpacked(bytes)?;
        let mut lines = text.split_inclusive('\n');
        let head: Head = lines
            .next()
            .and_then(|line| serde_json::from_str(line).ok())
            .ok_or("line 1: not the head of a public file of dyno")?;
        if head.format != FORMAT || head.version != VERSION {
            return Err(format!(
                "line 1: version {} of `{}`; this dyno reads version {VERSION} of `{FORMAT}`",
                head.version,
                head.format.escape_debug()
            ));
        }
        if LINES_MAX < head.lines {
            return Err(format!("its content has more than {LINES_MAX} lines"));
        }
        let made = match head.columns {
            Some(many) => columns::read(&mut lines, many, head.lines)?,
            None => Vec::new(),
        };
        let mut content: Vec<&str> = made.iter().map(String::as_str).collect();
        if head.columns.is_none() {
            content.extend(lines.by_ref().take(head.lines));
        }
        if content.len() != head.lines || digest(content.iter().copied()) != head.id {
            return Err("its content is not that of its id: it was changed, or is not whole".into());
        }
        let (record, trials, ended) = content::read(&content)?;
        let (id, lineage, claims) = (head.id, Lineage::default(), Value::Null);
        let mut run = PublicRun { id, record, trials, ended, lineage, claims };
        let mut parts = head.parts;
        for line in lines {
            content::check_size(line)?;
            let extra: Extra = serde_json::from_str(line)
                .map_err(|error| format!("behind its content: {error}"))?;
            if parts.remove(name(&extra)).as_deref() != Some(&digest([line].into_iter())) {
                return Err(format!("its part `{}` is not that of its digest", name(&extra)));
            }
            run.take(extra)?;
        }
        match parts.into_keys().next() {
            None => Ok(run),
            Some(name) => Err(format!("its part `{}` is missing", name.escape_debug())),
        }
    }

    fn take(&mut self, extra: Extra) -> Result<(), String> {
        match extra {
            Extra::Claims(claims) => self.claims = claims,
            Extra::Lineage(lineage) => self.lineage = lineage,
            Extra::Profiles(all) => {
                for (number, tables) in (0..).zip(all) {
                    let read = plain::read_profile(number, tables);
                    let read = read.map_err(|says| format!("profile {number}: {says}"))?;
                    self.record.profiles.push(read);
                }
                content::check_profiles(&self.record.profiles)
                    .map_err(|says| format!("its profiles: {says}"))?;
            }
        }
        Ok(())
    }
}

fn name(extra: &Extra) -> &'static str {
    match extra {
        Extra::Claims(_) => "claims",
        Extra::Lineage(_) => "lineage",
        Extra::Profiles(_) => "profiles",
    }
}

fn unpacked(bytes: &[u8]) -> Result<String, String> {
    if PACKED_MAX < bytes.len() {
        return Err(format!("it is larger than {} MB", PACKED_MAX >> 20));
    }
    let mut text = String::new();
    let mut unpacker = GzDecoder::new(bytes);
    let read = unpacker.by_ref().take(UNPACKED_MAX + 1).read_to_string(&mut text);
    read.map_err(|error| format!("it cannot be unpacked: {error}"))?;
    if UNPACKED_MAX < text.len() as u64 {
        return Err(format!("unpacked, it has more than {} MB", UNPACKED_MAX >> 20));
    }
    if !unpacker.into_inner().is_empty() {
        return Err("bytes follow its end".into());
    }
    Ok(text)
}
