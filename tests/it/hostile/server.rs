//! A server on loopback that says exactly the bytes a test wants, to any number of connections, until it is dropped.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// How long a connection may stand still before its thread gives up: longer than any program here waits.
const STANDSTILL_MAX: Duration = Duration::from_secs(30);

/// One request, as an act sees it.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The how many-th request this is, over all connections, from 0.
    pub nth: usize,
    /// The request's line and headers.
    pub head: String,
    /// Its body.
    pub body: String,
}

impl Asked {
    /// The value of a query parameter, as it stands in the address.
    pub fn query(&self, name: &str) -> String {
        let target = self.head.split_whitespace().nth(1).unwrap_or_default();
        let pairs = target.split_once('?').map_or("", |(_, query)| query).split('&');
        let found = pairs.filter_map(|pair| pair.split_once('=')).find(|(known, _)| *known == name);
        found.map(|(_, value)| value.to_owned()).unwrap_or_default()
    }
}

/// What is done with a request: an error, or the end of what it says, closes the connection.
pub type Act = Arc<dyn Fn(&mut TcpStream, &Asked) -> io::Result<After> + Send + Sync>;

/// What becomes of the connection after an act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// It is closed.
    Close,
    /// The next request is awaited on it.
    Keep,
}

/// The server.
pub struct Server {
    /// Its address, `http://127.0.0.1:PORT`.
    pub base: String,
    requests: Arc<AtomicUsize>,
    is_over: Arc<AtomicBool>,
}

impl Server {
    /// Starts a server that does this with every request.
    pub fn start(act: Act) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let (requests, is_over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (counted, ended) = (Arc::clone(&requests), Arc::clone(&is_over));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::Relaxed) {
                    return;
                }
                let (act, counted) = (Arc::clone(&act), Arc::clone(&counted));
                // A connection that breaks is what many a test wants.
                std::thread::spawn(move || stream.and_then(|stream| serve(stream, &act, &counted)));
            }
        });
        Self { base, requests, is_over }
    }

    /// How many requests came.
    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // The listening thread is woken to see it.
        let _already_gone = TcpStream::connect(self.base.trim_start_matches("http://"));
    }
}

fn serve(mut stream: TcpStream, act: &Act, counted: &AtomicUsize) -> io::Result<()> {
    stream.set_read_timeout(Some(STANDSTILL_MAX))?;
    stream.set_write_timeout(Some(STANDSTILL_MAX))?;
    while let Some((head, body)) = request(&mut stream)? {
        let asked = Asked { nth: counted.fetch_add(1, Ordering::Relaxed), head, body };
        if act(&mut stream, &asked)? == After::Close {
            return Ok(());
        }
    }
    Ok(())
}

/// The next request's head and body; `None` at the connection's end.
fn request(stream: &mut TcpStream) -> io::Result<Option<(String, String)>> {
    let mut read = Vec::new();
    let head_end = loop {
        if let Some(at) = read.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        if !read_more(stream, &mut read)? {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&read[..head_end]).into_owned();
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    while read.len() < head_end + length.unwrap_or(0) {
        if !read_more(stream, &mut read)? {
            return Ok(None);
        }
    }
    Ok(Some((head, String::from_utf8_lossy(&read[head_end..]).into_owned())))
}

fn read_more(stream: &mut TcpStream, read: &mut Vec<u8>) -> io::Result<bool> {
    let mut buffer = [0; 4096];
    let count = stream.read(&mut buffer)?;
    read.extend_from_slice(&buffer[..count]);
    Ok(count > 0)
}

/// An answer with headers of its own, each ended by a line break, and the length of its body.
pub fn answer(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let head = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// Says these bytes and closes.
pub fn says(bytes: impl Into<Vec<u8>>) -> Act {
    let bytes = bytes.into();
    Arc::new(move |stream, _| stream.write_all(&bytes).map(|()| After::Close))
}

/// Says these bytes and then nothing, until the other side goes.
pub fn says_and_waits(bytes: impl Into<Vec<u8>>) -> Act {
    let bytes = bytes.into();
    Arc::new(move |stream, _| {
        stream.write_all(&bytes)?;
        while read_more(stream, &mut Vec::new())? {}
        Ok(After::Close)
    })
}

/// Says a beginning, and then a piece again and again, with a pause before each, until the other side goes.
pub fn says_for_ever(begin: &'static str, piece: &'static str, pause: Duration) -> Act {
    let piece = if pause.is_zero() { piece.repeat(1 + 64 * 1024 / piece.len()) } else { piece.to_owned() };
    Arc::new(move |stream, _| {
        stream.write_all(begin.as_bytes())?;
        loop {
            std::thread::sleep(pause);
            stream.write_all(piece.as_bytes())?;
        }
    })
}

/// Says what is made for each request, and keeps the connection.
pub fn tells(make: impl Fn(&Asked) -> Vec<u8> + Send + Sync + 'static) -> Act {
    Arc::new(move |stream, asked| stream.write_all(&make(asked)).map(|()| After::Keep))
}
