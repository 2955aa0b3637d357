//! A real browser without a window, driven over a pipe by the protocol of its own developer tools.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::folder::Folder;
use crate::lab_rig::not_tested;

/// A browser is slow on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The browser of all tests, once one of them has started it; they take turns.
static CHROMIUM: Mutex<Option<Chromium>> = Mutex::new(None);

/// A browser, which ends when the process of the tests does.
struct Chromium {
    asks: ChildStdin,
    incoming: Receiver<Value>,
    asked: u64,
}

impl Chromium {
    /// None if there is no browser.
    fn start() -> Option<Chromium> {
        let program = program()?;
        let profile = std::env::temp_dir().join(format!("dyno-browser-{}", std::process::id()));
        // It reads on descriptor 3 and writes on 4; when the tests are gone, it ends.
        let pipes = "\"$@\" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null; rm -rf \"$0\"";
        let mut child = Command::new("sh")
            .args(["-c", pipes])
            .arg(&profile)
            .args([&program, "--headless=new", "--remote-debugging-pipe"])
            .args(["--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"])
            // The pages are ours; and root, which CI runs as, has no sandbox.
            .arg("--no-sandbox")
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let asks = child.stdin.take().unwrap();
        let (sender, incoming) = channel();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            let mut message = Vec::new();
            while output.read_until(0, &mut message).is_ok_and(|bytes| 0 < bytes) {
                message.pop();
                if sender.send(serde_json::from_slice(&message).unwrap()).is_err() {
                    break;
                }
                message.clear();
            }
            let _ = child.wait();
        });
        Some(Chromium { asks, incoming, asked: 0 })
    }

    /// Sends a command; returns its number.
    fn send(&mut self, session: Option<&str>, method: &str, parameters: &Value) -> u64 {
        self.asked += 1;
        let mut message = json!({ "id": self.asked, "method": method, "params": parameters });
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        // Whoever waits for the answer of a browser that has gone says so.
        let _ = self.asks.write_all(message.to_string().as_bytes());
        let _ = self.asks.write_all(&[0]);
        self.asked
    }
}

/// A page of the browser, for one test.
pub(crate) struct Browser {
    chromium: MutexGuard<'static, Option<Chromium>>,
    session: Option<String>,
    target: Value,
    events: Vec<Value>,
    /// The pages that are shown, and what is saved of them.
    pub(crate) folder: Folder,
}

impl Browser {
    /// None if there is no browser, which is printed.
    pub(crate) fn start(tested: &str) -> Option<Browser> {
        let mut chromium = CHROMIUM.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if chromium.is_none() {
            *chromium = Chromium::start();
        }
        if chromium.is_none() {
            not_tested(tested, "chromium");
            return None;
        }
        let (session, target, events) = (None, Value::Null, Vec::new());
        let mut browser = Browser { chromium, session, target, events, folder: Folder::new() };
        browser.attach();
        Some(browser)
    }

    fn chromium(&mut self) -> &mut Chromium {
        self.chromium.as_mut().expect("it was started")
    }

    fn attach(&mut self) {
        let target = self.ask("Target.createTarget", &json!({ "url": "about:blank" }));
        self.target = target["targetId"].clone();
        let flat = json!({ "targetId": self.target, "flatten": true });
        let attached = self.ask("Target.attachToTarget", &flat);
        self.session = Some(attached["sessionId"].as_str().unwrap().into());
        for domain in ["Page", "Runtime", "Network", "Log", "Security"] {
            self.ask(&format!("{domain}.enable"), &json!({}));
        }
        self.ask("Page.setLifecycleEventsEnabled", &json!({ "enabled": true }));
        self.desktop();
    }

    /// Sends a command, and waits for the answer.
    #[track_caller]
    pub(crate) fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        let session = self.session.clone();
        let id = self.chromium().send(session.as_deref(), method, parameters);
        loop {
            let mut incoming = self.hear(method);
            match incoming["id"].as_u64() {
                Some(answered) if answered == id => {
                    assert!(incoming["error"].is_null(), "{method}: {incoming}");
                    return incoming["result"].take();
                }
                Some(_) => {}
                None => self.note(incoming),
            }
        }
    }

    #[track_caller]
    fn hear(&mut self, waiting_for: &str) -> Value {
        let incoming = self.chromium().incoming.recv_timeout(PATIENCE);
        incoming.unwrap_or_else(|_| panic!("in vain: {waiting_for}"))
    }

    /// Keeps an event, unless it is of a page that an earlier test had. A dialog is an event like any other; left open,
    /// it would stop the page for ever.
    fn note(&mut self, event: Value) {
        if event["sessionId"].as_str().is_some_and(|it| self.session.as_deref() != Some(it)) {
            return;
        }
        if event["method"] == "Page.javascriptDialogOpening" {
            let session = self.session.clone();
            let close = json!({ "accept": false });
            self.chromium().send(session.as_deref(), "Page.handleJavaScriptDialog", &close);
        }
        self.events.push(event);
    }

    /// Waits for an event that arrived since the page was opened, or that arrives later.
    #[track_caller]
    pub(crate) fn until(&mut self, method: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let is_it = |event: &Value| event["method"] == method && holds(&event["params"]);
        loop {
            if let Some(event) = self.events.iter().find(|event| is_it(event)) {
                return event["params"].clone();
            }
            let event = self.hear(method);
            self.note(event);
        }
    }

    /// Opens a file, with what follows `#`.
    #[track_caller]
    pub(crate) fn open(&mut self, path: &Path, fragment: &str) {
        // A page that differs only in its fragment would not be loaded again.
        self.load("about:blank");
        self.events.clear();
        self.load(&format!("file://{}{fragment}", path.display()));
    }

    #[track_caller]
    fn load(&mut self, url: &str) {
        let loader = self.ask("Page.navigate", &json!({ "url": url }))["loaderId"].take();
        self.until("Page.lifecycleEvent", |event| {
            event["loaderId"] == loader && event["name"] == "load"
        });
    }

    pub(crate) fn desktop(&mut self) {
        self.size(1240, 900, false);
    }

    pub(crate) fn phone(&mut self) {
        self.size(390, 844, true);
    }

    pub(crate) fn size(&mut self, width: u32, height: u32, is_phone: bool) {
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone });
        self.ask("Emulation.setDeviceMetricsOverride", &size);
    }

    /// The value of an expression in the page.
    #[track_caller]
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let asked =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut incoming = self.ask("Runtime.evaluate", &asked);
        assert!(incoming["exceptionDetails"].is_null(), "{expression}: {incoming}");
        incoming["result"]["value"].take()
    }

    /// Moves the pointer to the middle of an element.
    #[track_caller]
    pub(crate) fn point_at(&mut self, selector: &str) -> (f64, f64) {
        // A scrolled page is notified with the next frame; only then is it at rest.
        let found = self.value(&format!(
            "(async () => {{ const e = Array.from(document.querySelectorAll({selector:?})).find((e) => e.getClientRects().length);\
             e.scrollIntoView({{ block: 'center', inline: 'center', behavior: 'instant' }});\
             const frame = () => new Promise((then) => requestAnimationFrame(then)); await frame(); await frame();\
             const at = e.getBoundingClientRect(); return [at.left + at.width / 2, at.top + at.height / 2]; }})()"
        ));
        let (x, y) = (found[0].as_f64().unwrap(), found[1].as_f64().unwrap());
        self.mouse("mouseMoved", (x, y));
        (x, y)
    }

    #[track_caller]
    pub(crate) fn click(&mut self, selector: &str) {
        let place = self.point_at(selector);
        self.mouse("mousePressed", place);
        self.mouse("mouseReleased", place);
    }

    fn mouse(&mut self, kind: &str, (x, y): (f64, f64)) {
        let button = if kind == "mouseMoved" { "none" } else { "left" };
        let event = json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": 1 });
        self.ask("Input.dispatchMouseEvent", &event);
    }

    pub(crate) fn key(&mut self, key: &str) {
        let (code, text) = match key {
            "Tab" => (9, ""),
            "Enter" => (13, "\r"),
            "Escape" => (27, ""),
            " " => (32, " "),
            "ArrowLeft" => (37, ""),
            "ArrowUp" => (38, ""),
            "ArrowRight" => (39, ""),
            "ArrowDown" => (40, ""),
            _ => panic!("which key is {key}?"),
        };
        for kind in [if text.is_empty() { "rawKeyDown" } else { "keyDown" }, "keyUp"] {
            let event = json!({
                "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text,
            });
            self.ask("Input.dispatchKeyEvent", &event);
        }
    }

    /// Everything that a console would show or that would disturb a reader: there must be none of it.
    pub(crate) fn complaints(&mut self) -> Vec<String> {
        self.value("0");
        const DISTURBING: [&str; 4] = [
            "Log.entryAdded",
            "Runtime.consoleAPICalled",
            "Runtime.exceptionThrown",
            "Page.javascriptDialogOpening",
        ];
        let is_one = |event: &&Value| DISTURBING.iter().any(|method| event["method"] == *method);
        self.events.iter().filter(is_one).map(ToString::to_string).collect()
    }

    /// Every address that was requested, except the page's own and data within it.
    pub(crate) fn requests(&mut self) -> Vec<String> {
        let own = self.value("location.href.split('#')[0]");
        let sent =
            self.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        let urls = sent.filter_map(|event| event["params"]["request"]["url"].as_str());
        let is_other = |url: &&str| {
            own.as_str() != Some(*url) && !url.starts_with("data:") && !url.starts_with("blob:")
        };
        urls.filter(is_other).map(String::from).collect()
    }

    #[track_caller]
    pub(crate) fn is_quiet(&mut self) {
        assert_eq!(self.complaints(), Vec::<String>::new());
        assert_eq!(self.requests(), Vec::<String>::new());
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let page = json!({ "targetId": self.target });
        self.chromium().send(None, "Target.closeTarget", &page);
    }
}

fn program() -> Option<String> {
    let look = "command -v chromium || command -v chromium-browser || command -v google-chrome";
    let found = Command::new("sh").args(["-c", look]).output().unwrap();
    let path = String::from_utf8(found.stdout).unwrap().trim().to_string();
    (!path.is_empty()).then_some(path)
}
