//! A curl command as a request. Options about the request are followed, those about curl's output are not needed, and
//! every other one is refused by its name.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use wire::Request;

use crate::curl_options::{Data, Meaning, OPTIONS};
use crate::shell_words;
use crate::{Given, answer, file, url};

/// What the options have said so far.
#[derive(Default)]
struct Said {
    urls: Vec<String>,
    method: Option<String>,
    headers: Vec<(String, String)>,
    /// Fields that curl adds if no -H has their name.
    usual: Vec<(&'static str, String)>,
    /// Names whose usual field is left out.
    removed: Vec<String>,
    cookies: Vec<String>,
    body: Option<Vec<u8>>,
    /// Nothing is filled in what came from a file.
    has_file: bool,
    is_json: bool,
    is_get: bool,
    is_head: bool,
    is_globoff: bool,
    http_1_0: bool,
    insecure: bool,
    idle: Vec<String>,
}

/// Reads a command, or says what of it dyno does not do.
pub(crate) fn read(command: &str) -> Result<Given, String> {
    let mut words = shell_words::words(command)?.into_iter();
    match words.next() {
        Some(first) if first == "curl" || first.ends_with("/curl") => {}
        _ => return Err("this is not a curl command; it begins with `curl`".into()),
    }
    let mut said = Said::default();
    let mut only_urls = false;
    while let Some(word) = words.next() {
        if only_urls || word == "-" || !word.starts_with('-') {
            said.urls.push(word);
        } else if word == "--" {
            only_urls = true;
        } else if let Some(name) = word.strip_prefix("--") {
            let meaning = OPTIONS.iter().find(|(_, long, _)| *long == name);
            let (_, _, meaning) = meaning.ok_or_else(|| unknown(&word))?;
            said.take(*meaning, &word, &mut || words.next())?;
        } else {
            short(&word, &mut said, &mut || words.next())?;
        }
    }
    said.into_curl()
}

fn unknown(option: &str) -> String {
    format!(
        "`{}` is not an option of curl that dyno knows; leave it out, or leave --curl out and say by a URL, -m, -H \
         and -b \
         what is to be sent",
        // What stands after `=` may be a password.
        option.split('=').next().unwrap_or_default().escape_debug()
    )
}

/// `-s`, `-sSv`, `-XPOST`, `-X POST`.
fn short(
    word: &str,
    said: &mut Said,
    next: &mut dyn FnMut() -> Option<String>,
) -> Result<(), String> {
    let mut letters = word[1..].chars();
    while let Some(letter) = letters.next() {
        let option = format!("-{letter}");
        let meaning = OPTIONS.iter().find(|(short, _, _)| *short == Some(letter));
        let (_, _, meaning) = meaning.ok_or_else(|| unknown(&option))?;
        if meaning.has_value() && !letters.as_str().is_empty() {
            return said.take(*meaning, &option, &mut || Some(letters.as_str().into()));
        }
        said.take(*meaning, &option, next)?;
    }
    Ok(())
}

impl Said {
    fn take(
        &mut self,
        meaning: Meaning,
        option: &str,
        next: &mut dyn FnMut() -> Option<String>,
    ) -> Result<(), String> {
        let value = match meaning.has_value() {
            true => {
                next().ok_or_else(|| format!("{option} needs a value, and the command ends"))?
            }
            false => String::new(),
        };
        match meaning {
            Meaning::Url => self.urls.push(value),
            Meaning::Method => self.method = Some(value),
            Meaning::Header => self.header(&value)?,
            Meaning::Data(how) => {
                let data = self.data(option, &value, how)?;
                self.append(&data, b"&");
            }
            Meaning::UrlEncoded => {
                let data = self.url_encoded(option, &value)?;
                self.append(data.as_bytes(), b"&");
            }
            Meaning::Json => {
                self.is_json = true;
                let data = self.data(option, &value, Data::Binary)?;
                self.append(&data, b"");
            }
            Meaning::User if !value.contains(':') => {
                return Err(format!(
                    "{option}: curl would ask for the password; write NAME:PASSWORD"
                ));
            }
            Meaning::User => {
                self.usual.push(("Authorization", format!("Basic {}", STANDARD.encode(value))));
            }
            Meaning::Bearer => self.usual.push(("Authorization", format!("Bearer {value}"))),
            Meaning::Field("Range") => self.usual.push(("Range", format!("bytes={value}"))),
            Meaning::Field(name) => {
                let value = value.strip_suffix(";auto").unwrap_or(&value);
                if !value.is_empty() {
                    self.usual.push((name, value.into()));
                }
            }
            Meaning::Cookie if !value.contains('=') => {
                let says =
                    "is a file of cookies for curl; write them as -b 'name=value; other=value'";
                return Err(format!("{option}: `{}` {says}", value.escape_debug()));
            }
            Meaning::Cookie => self.cookies.push(value),
            Meaning::Get => self.is_get = true,
            Meaning::Head => self.is_head = true,
            Meaning::Http10 => self.http_1_0 = true,
            Meaning::Insecure => self.insecure = true,
            Meaning::Compressed => self.usual.push(("Accept-Encoding", "deflate, gzip".into())),
            Meaning::Idle { .. } => {
                self.is_globoff |= ["-g", "--globoff"].contains(&option);
                self.idle.push(option.into());
            }
            Meaning::Refused(instead) => return Err(format!("{option}: {instead}")),
        }
        Ok(())
    }

    fn field(&mut self, name: &str, value: String) {
        self.headers.push((name.into(), value));
    }

    /// `Name: value`; `Name;` has an empty value, and `Name:` leaves out what curl sends by itself.
    fn header(&mut self, text: &str) -> Result<(), String> {
        if text.starts_with('@') {
            return Err(format!(
                "-H {text}: write the fields of the file out, each as -H 'Name: value'"
            ));
        }
        if let Some(name) = text.strip_suffix(';').filter(|name| !name.contains(':')) {
            self.field(name.trim(), String::new());
            return Ok(());
        }
        // The text is not repeated: `Authorization Basic …` is refused, too.
        let says = "-H: a field has no colon after its name; write it like 'Name: value'";
        let (name, value) = answer::field(text).map_err(|_| says)?;
        match value.is_empty() {
            true => self.removed.push(name),
            false => self.field(&name, value),
        }
        Ok(())
    }

    fn data(&mut self, option: &str, value: &str, how: Data) -> Result<Vec<u8>, String> {
        let Some(path) = value.strip_prefix('@').filter(|_| how != Data::Raw) else {
            return Ok(value.into());
        };
        let mut bytes = self.file(option, path)?;
        if how == Data::Text {
            bytes.retain(|byte| !b"\r\n\0".contains(byte));
        }
        Ok(bytes)
    }

    fn file(&mut self, option: &str, path: &str) -> Result<Vec<u8>, String> {
        if path == "-" {
            return Err(format!("{option} @-: standard input is not read here; name a file"));
        }
        self.has_file = true;
        file::bytes(option, Path::new(path)).map_err(|refusal| refusal.to_string())
    }

    /// `content`, `=content`, `name=content`, `@file` or `name@file`.
    fn url_encoded(&mut self, option: &str, value: &str) -> Result<String, String> {
        let at = value.find(['=', '@']);
        let (name, content) = match at {
            None => ("", value.as_bytes().to_vec()),
            Some(at) if value[at..].starts_with('=') => (&value[..at], value[at + 1..].into()),
            Some(at) => (&value[..at], self.file(option, &value[at + 1..])?),
        };
        let mut encoded = String::new();
        for byte in content {
            match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                true => encoded.push(char::from(byte)),
                false => encoded.push_str(&format!("%{byte:02X}")),
            }
        }
        Ok(if name.is_empty() { encoded } else { format!("{name}={encoded}") })
    }

    fn append(&mut self, data: &[u8], between: &[u8]) {
        match &mut self.body {
            None => self.body = Some(data.to_vec()),
            Some(body) => {
                body.extend_from_slice(between);
                body.extend_from_slice(data);
            }
        }
    }

    /// Adds the fields that curl adds, unless a -H says otherwise.
    fn add_usual(&mut self) {
        let body_type = match (self.is_json, &self.body) {
            (true, _) => Some("application/json"),
            (false, Some(_)) => Some("application/x-www-form-urlencoded"),
            (false, None) => None,
        };
        self.usual.extend(body_type.map(|it| ("Content-Type", it.to_string())));
        self.usual.extend(self.is_json.then(|| ("Accept", "application/json".to_string())));
        for (name, value) in std::mem::take(&mut self.usual) {
            let is_same = |other: &String| other.eq_ignore_ascii_case(name);
            let has = self.headers.iter().any(|(other, _)| is_same(other));
            if !has && !self.removed.iter().any(is_same) {
                self.field(name, value);
            }
        }
    }

    fn into_curl(mut self) -> Result<Given, String> {
        if self.urls.len() > 1 {
            return Err(format!(
                "there are {} URLs, `{}` and `{}`; give one, or write several requests into a file for --requests",
                self.urls.len(),
                shown(&self.urls[0]),
                shown(&self.urls[1])
            ));
        }
        let mut address = self.urls.pop().ok_or("there is no URL in the command")?;
        let refused = |address: &str, says: &str| format!("the URL `{}`: {says}", shown(address));
        if !self.is_globoff && means_several(&address) {
            let says = "curl would make several URLs of the brackets; write one, or add -g if they are part of it";
            return Err(refused(&address, says));
        }
        if let Some(body) = self.body.take_if(|_| self.is_get) {
            let query = String::from_utf8(body).map_err(|_| "-G: the data is not text")?;
            let at = address.find('#').unwrap_or(address.len());
            let between = if address[..at].contains('?') { '&' } else { '?' };
            address.insert_str(at, &format!("{between}{query}"));
        }
        let url = url::parse(&address).map_err(|says| refused(&address, &says))?;
        self.add_usual();
        if !self.cookies.is_empty() {
            self.field("Cookie", self.cookies.join("; "));
        }
        let usual = match (self.is_head, &self.body) {
            (true, _) => "HEAD",
            (false, Some(_)) => "POST",
            (false, None) => "GET",
        };
        let request = Request {
            method: self.method.unwrap_or_else(|| usual.into()),
            headers: self.headers,
            // Data are sent as curl would send them; only placeholders that dyno has are filled.
            body: match self.body.unwrap_or_default() {
                body if self.has_file => body,
                body => wire::quoted(&body, true),
            },
            body_has_placeholders: !self.has_file,
            http_1_0: self.http_1_0,
            ..Request::get(&url.host_field, &url.target)
        };
        self.idle.dedup();
        let idle = self.idle.join(", ");
        let note = format!("note: --curl: {idle}: no effect here");
        let notes = if idle.is_empty() { Vec::new() } else { vec![note] };
        Ok(Given { url, request, notes, insecure: self.insecure })
    }
}

/// Whether curl makes several URLs of it: `{a,b}`, `[1-9]`. Brackets around an address and placeholders are none.
fn means_several(address: &str) -> bool {
    let host_from = address.find("://").map_or(0, |at| at + 3);
    let path_from = address[host_from..].find('/').map_or(address.len(), |at| host_from + at);
    let is_hole = |text: &str| text.starts_with("{seq}") || text.starts_with("{random:");
    address.char_indices().any(|(at, letter)| match letter {
        '{' => !is_hole(&address[at..]),
        '[' => path_from < at,
        _ => false,
    })
}

/// An address in a refusal.
fn shown(address: &str) -> String {
    units::without_password(address).escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(command: &str) -> String {
        let curl = read(command).unwrap_or_else(|says| panic!("{command}: {says}"));
        let ask = wire::Ask::new(&curl.request, wire::Expect::default()).unwrap();
        let mut bytes = Vec::new();
        ask.encode(wire::Values::default(), &mut bytes);
        String::from_utf8(bytes).unwrap().replace("\r\n", "\n")
    }

    #[test]
    fn a_command_from_a_browser_becomes_its_request() {
        let command = "curl 'http://localhost:8080/api/orders?x=1' \\\n  -X 'PUT' \\\n  \
                       -H 'Content-Type: application/json' \\\n  -b 'session=a; b=c' \\\n  \
                       --data-raw $'{\"it\\\'s\":1}' \\\n  --compressed --insecure";
        assert_eq!(
            sent(command),
            "PUT /api/orders?x=1 HTTP/1.1\nHost: localhost:8080\nContent-Type: application/json\n\
             Accept-Encoding: deflate, gzip\nCookie: session=a; b=c\nContent-Length: 10\n\n{\"it's\":1}"
        );
        let curl = read(command).unwrap();
        assert!(curl.notes.is_empty() && curl.insecure);
    }

    #[test]
    fn data_is_joined_and_has_its_usual_type() {
        let form = "Content-Type: application/x-www-form-urlencoded";
        assert_eq!(
            sent("curl h -d a=1 -db=2 --data-urlencode 'c=x y&é' --data-urlencode '=/' -A me -e there;auto"
                .replace(';', "\\;").as_str()),
            format!("POST / HTTP/1.1\nHost: h\nUser-Agent: me\nReferer: there\n{form}\nContent-Length: 28\n\n\
                     a=1&b=2&c=x%20y%26%C3%A9&%2F")
        );
        assert!(
            sent("curl h -d x -H 'content-type: text/plain'")
                .contains("\ncontent-type: text/plain\nContent-Length")
        );
        assert!(!sent("curl h -d x -H 'Content-Type:'").contains("Content-Type"));
        assert_eq!(
            sent("curl -G h/a?b=1#c -d d=2 -H 'X-Empty;'"),
            "GET /a?b=1&d=2 HTTP/1.1\nHost: h\nX-Empty: \n\n"
        );
        let json = sent("curl h --json '[1' --json ',2]'");
        assert!(json.starts_with("POST / ") && json.ends_with("\n\n[1,2]"), "{json}");
        assert!(
            json.contains("Content-Type: application/json\nAccept: application/json\n"),
            "{json}"
        );
    }

    #[test]
    fn a_files_data_is_taken_as_curl_takes_it_and_nothing_is_filled_in_it() {
        let path = std::env::temp_dir().join(format!("dyno-curl-{}", std::process::id()));
        std::fs::write(&path, "{seq}\r\nb\n").unwrap();
        let with = |option: &str| sent(&format!("curl h {option}{}", path.display()));
        assert!(with("-d @").ends_with("\n\n{seq}b"));
        assert!(with("--data-binary @").ends_with("\n\n{seq}\nb\n"));
        assert!(with("--data-urlencode n@").ends_with("\n\nn=%7Bseq%7D%0D%0Ab%0A"));
        assert!(with("--data-raw @").ends_with(&format!("\n\n@{}", path.display())));
        std::fs::remove_file(&path).unwrap();
        assert!(sent("curl h/{seq} -d 'n={seq}'").ends_with("\n\nn=0"), "as in other flags");
        assert!(sent("curl h -d '{{n}}={me}{seq}'").ends_with("\n\n{{n}}={me}0"), "as curl does");
        let says = read("curl h -d @/no/such/file").err().unwrap();
        assert!(says.starts_with("-d /no/such/file: "), "{says}");
    }

    #[test]
    fn who_asks_and_how_is_followed() {
        assert_eq!(
            sent("curl -sS0I -u me:secret --url http://h:81/ -r 0-9"),
            "HEAD / HTTP/1.0\nHost: h:81\nAuthorization: Basic bWU6c2VjcmV0\nRange: bytes=0-9\n\
             Connection: keep-alive\n\n"
        );
        assert!(sent("curl h -u a:b -H 'Authorization: mine'").contains("\nAuthorization: mine\n"));
        assert!(sent("curl h --oauth2-bearer t").contains("\nAuthorization: Bearer t\n"));
        assert!(sent("/usr/bin/curl -XDELETE -- h").starts_with("DELETE / "));
        assert_eq!(read("curl -sSo /dev/null -w '%{http_code}' h").unwrap().notes.len(), 1);
        assert!(read("curl h").unwrap().notes.is_empty());
        assert!(sent("curl -g 'h/a[1]'").starts_with("GET /a[1] "));
        assert!(sent("curl 'http://[::1]:8080/'").contains("Host: [::1]:8080"));
    }

    #[test]
    fn what_dyno_does_not_do_is_refused_by_name() {
        for (command, says) in [
            ("wget h", "it begins with `curl`"),
            ("", "it begins with `curl`"),
            ("curl", "no URL"),
            ("curl a b", "2 URLs, `a` and `b`"),
            ("curl h -L", "-L: dyno follows no redirect"),
            ("curl h -sSL", "-L: "),
            ("curl h --location", "--location: "),
            ("curl h -F a=@b", "-F: "),
            ("curl h --tls-max 1.2", "--tls-max: leave it out, and give --tls 1.2"),
            ("curl h --http2", "--http2: leave it out, and give --http2 to dyno load"),
            ("curl h -m 5", "-m: give --timeout"),
            ("curl h --proxy x", "--proxy: "),
            ("curl h --frobnicate", "`--frobnicate` is not an option of curl that dyno knows"),
            ("curl h -y", "`-y` is not an option"),
            ("curl h -H", "-H needs a value"),
            ("curl h -H nocolon", "-H: a field has no colon"),
            ("curl h -H @f", "-H @f: "),
            ("curl h -u me", "-u: curl would ask for the password"),
            ("curl h -b jar.txt", "-b: `jar.txt` is a file of cookies"),
            ("curl h -d @-", "-d @-: standard input"),
            ("curl https://h/ --cacert x.pem", "--cacert: give --ca FILE to dyno load"),
            ("curl 'h/{a,b}'", "several URLs"),
            ("curl 'h/[1-3]'", "several URLs"),
            ("curl $HOST", "write the value itself"),
        ] {
            let refused = read(command).err().unwrap_or_else(|| panic!("{command} is not refused"));
            assert!(refused.contains(says), "{command}: {refused}");
        }
    }
}
