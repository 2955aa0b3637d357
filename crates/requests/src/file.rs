//! A file that a flag names, read whole if it is not too large.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use lab::Refusal;
use lab::source_file::SourceFile;

/// A body kept in memory is never larger than this.
pub(crate) const BODY_MAX_BYTES: u64 = 1 << 30;

/// A file's bytes, if there are not too many.
pub fn bytes(flag: &str, path: &Path) -> Result<Vec<u8>, Refusal> {
    let refused = |why: String| Refusal::new(format!("{flag} {}: {why}", path.display()));
    let bytes = File::open(path)
        .and_then(|file| limited(file, BODY_MAX_BYTES))
        .map_err(|error| unreadable(&error));
    match bytes.map_err(refused)? {
        Some(bytes) => Ok(bytes),
        None => Err(refused("larger than 1 GiB, the most; name a smaller file".into())),
    }
}

fn unreadable(error: &io::Error) -> String {
    format!("{error}; name a file that you may read")
}

/// All that comes, or none if that is too much. A file whose reported size is small may still be endless: /dev/zero.
fn limited(from: impl Read, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    from.take(bytes_max + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= bytes_max).then_some(bytes))
}

/// All that a file has, or standard input for `-`; none if that is too much.
pub fn read(path: &Path, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    match path == Path::new("-") {
        true => limited(io::stdin().lock(), bytes_max),
        false => File::open(path).and_then(|file| limited(file, bytes_max)),
    }
}

/// The text of a file that a flag names, or of standard input for `-`, up to 256 MiB.
pub fn text(flag: &str, path: &Path) -> Result<SourceFile, Refusal> {
    const BYTES_MAX: u64 = 256 << 20;
    let is_stdin = path == Path::new("-");
    let name = if is_stdin { "standard input".into() } else { path.display().to_string() };
    let refused = |why: String| Refusal::new(format!("{flag} {name}: {why}"));
    let bytes = read(path, BYTES_MAX).map_err(|error| unreadable(&error)).map_err(refused)?;
    let bytes = bytes.ok_or_else(|| refused("larger than 256 MiB, the most; divide it".into()))?;
    SourceFile::of_bytes(&name, bytes).map_err(Refusal::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_ends_is_read_up_to_the_most_and_not_kept() {
        assert_eq!(limited(&b"12345"[..], 5).unwrap().as_deref(), Some(&b"12345"[..]));
        assert_eq!(limited(io::repeat(0), 5).unwrap(), None);
    }
}
