//! Debian's chromium in headless mode, controlled through its DevTools protocol over a pair of pipes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// More than a loaded machine needs to draw a page.
const PATIENCE: Duration = Duration::from_secs(120);

const MEASURE: &str = include_str!("measure.js");

/// The preference of the page's reader.
#[derive(Clone, Copy, Debug)]
pub enum Scheme {
    Dark,
    Light,
}

/// A browser with one page. It exits when this is dropped.
pub struct Chromium {
    process: Child,
    calls: ChildStdin,
    answers: Receiver<Value>,
    last_call: u64,
    session: Option<String>,
    folder: TempDir,
}

impl Chromium {
    /// `None`, with the reason printed, if there is no chromium.
    pub fn start() -> Option<Self> {
        let Some(program) = program() else {
            requirements::skip("needs chromium (apt-get install chromium)");
            return None;
        };
        let folder = tempfile::tempdir().expect("a temporary folder");
        // It reads calls from descriptor 3 and writes answers to descriptor 4.
        let mut process = Command::new("sh")
            .args([
                "-c",
                "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null",
                &program,
            ])
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--hide-scrollbars",
                "--remote-debugging-pipe",
            ])
            .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the browser starts");
        let calls = process.stdin.take().expect("a pipe");
        let answers = answers(process.stdout.take().expect("a pipe"));
        let mut browser = Self {
            process,
            calls,
            answers,
            last_call: 0,
            session: None,
            folder,
        };
        let target = browser.call("Target.createTarget", &json!({ "url": "about:blank" }))["targetId"].clone();
        let attached = browser.call("Target.attachToTarget", &json!({ "targetId": target, "flatten": true }));
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        browser.call("Page.enable", &json!({}));
        Some(browser)
    }

    /// Opens a page in a window of this width.
    pub fn open(&mut self, page: &str, width: u32, scheme: Scheme) {
        let scheme = match scheme {
            Scheme::Dark => "dark",
            Scheme::Light => "light",
        };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", &json!({ "features": features }));
        let metrics = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", &metrics);
        let path = self.folder.path().join("page.html");
        fs::write(&path, page).expect("a page");
        self.call("Page.navigate", &json!({ "url": format!("file://{}", path.display()) }));
        self.until("the page is loaded", |message| {
            message["method"] == "Page.loadEventFired"
        });
    }

    /// Evaluates an expression in the page with the functions of `measure.js`. The page's own policy forbids
    /// scripts.
    pub fn ask(&mut self, expression: &str) -> Value {
        self.evaluate(&format!("{MEASURE}\n{expression}"))
    }

    fn evaluate(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", &parameters);
        assert!(answer.get("exceptionDetails").is_none(), "{answer}");
        answer["result"]["value"].clone()
    }

    /// Result of the measuring script in the page.
    pub fn measure(&mut self) -> Value {
        self.ask("measured()")
    }

    /// Presses and releases a key.
    pub fn press(&mut self, key: &str) {
        let (code, text) = match key {
            "Tab" => (9, ""),
            "Enter" => (13, "\r"),
            other => panic!("no code is known of the key {other}"),
        };
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            let event =
                json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text });
            self.call("Input.dispatchKeyEvent", &event);
        }
    }

    /// The page as printed.
    pub fn emulate_print(&mut self) {
        self.call("Emulation.setEmulatedMedia", &json!({ "media": "print" }));
        // Hidden content is drawn with the next frame.
        self.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
    }

    /// The page as a PDF file.
    pub fn pdf(&mut self) -> Vec<u8> {
        let printed = self.call("Page.printToPDF", &json!({}));
        let data = printed["data"].as_str().expect("the file in base 64");
        STANDARD.decode(data).expect("base 64")
    }

    fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.last_call += 1;
        let id = self.last_call;
        let mut call = json!({ "id": id, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            call["sessionId"] = json!(session);
        }
        let mut bytes = serde_json::to_vec(&call).expect("JSON");
        bytes.push(0);
        self.calls.write_all(&bytes).expect("the browser reads");
        let answer = self.until(method, |message| message["id"] == id);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    fn until(&self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.answers.recv_timeout(PATIENCE);
            let message = message.unwrap_or_else(|error| panic!("{what}: {error}"));
            if is_it(&message) {
                return message;
            }
        }
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

fn program() -> Option<String> {
    let is_there = |name: &&str| {
        let output = Command::new(name).arg("--version").output();
        output.is_ok_and(|output| output.status.success())
    };
    let names = ["chromium", "chromium-browser", "google-chrome"];
    names.into_iter().find(is_there).map(str::to_owned)
}

/// Each message ends with a zero byte.
fn answers(pipe: ChildStdout) -> Receiver<Value> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for message in BufReader::new(pipe).split(0) {
            let Ok(message) = message else { return };
            let message = serde_json::from_slice(&message).expect("the browser writes JSON");
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    receiver
}
