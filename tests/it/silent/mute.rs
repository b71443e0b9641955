//! Servers that stop saying anything: from the first, after the greeting, or in the middle of an answer.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// What a PostgreSQL server says to let somebody in: no password is wanted, and the first query may come.
const LETS_IN: &[u8] = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";
/// What a client asks a PostgreSQL server for TLS with.
const ASKS_FOR_TLS: [u8; 4] = [0x04, 0xd2, 0x16, 0x2f];

/// When it falls silent.
#[derive(Debug, Clone)]
pub enum Says {
    /// It takes the connection and says nothing.
    Nothing,
    /// Half of the greeting that a MySQL server begins with.
    HalfAGreeting,
    /// It lets a PostgreSQL client in, and says nothing to what is asked then.
    Welcome,
    /// It is this server, until a client says these words; of the answer to them it lets so many bytes through.
    Until(SocketAddr, &'static str, usize),
}

/// A listener on loopback. It keeps every connection open.
pub struct Mute {
    port: u16,
}

impl Mute {
    pub fn that(says: Says) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            let kept: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
            for client in listener.incoming().map_while(Result::ok) {
                let (says, kept) = (says.clone(), Arc::clone(&kept));
                // A client that has gone meanwhile is nobody's trouble.
                thread::spawn(move || drop(serve(client, &says, &kept)));
            }
        });
        Self { port }
    }

    pub fn port(&self) -> u16 {
        self.port
    }
}

fn serve(mut client: TcpStream, says: &Says, kept: &Mutex<Vec<TcpStream>>) -> std::io::Result<()> {
    kept.lock().unwrap().push(client.try_clone()?);
    match says {
        Says::Nothing => Ok(()),
        Says::HalfAGreeting => client.write_all(b"\x4a\0\0\0\x0a8.0.36"),
        Says::Welcome => {
            let mut heard = [0; 4096];
            let count = client.read(&mut heard)?;
            if heard[..count].ends_with(&ASKS_FOR_TLS) {
                client.write_all(b"N")?;
                let _hello = client.read(&mut heard)?;
            }
            client.write_all(LETS_IN)
        }
        Says::Until(server, words, bytes) => pass_on(client, *server, words, *bytes, kept),
    }
}

fn pass_on(
    mut client: TcpStream,
    server: SocketAddr,
    words: &str,
    bytes: usize,
    kept: &Mutex<Vec<TcpStream>>,
) -> std::io::Result<()> {
    let mut server = TcpStream::connect(server)?;
    kept.lock().unwrap().push(server.try_clone()?);
    // How many bytes may still go to the client; `None` is any number.
    let left: Arc<Mutex<Option<usize>>> = Arc::default();
    let (mut from_server, mut to_client, of_client) =
        (server.try_clone()?, client.try_clone()?, Arc::clone(&left));
    thread::spawn(move || {
        let mut buffer = [0; 8192];
        while let Ok(count @ 1..) = from_server.read(&mut buffer) {
            let mut left = of_client.lock().unwrap();
            let count = left.map_or(count, |left| count.min(left));
            *left = left.map(|left| left - count);
            if to_client.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
    });
    let mut buffer = [0; 8192];
    while let count @ 1.. = client.read(&mut buffer)? {
        let is_it = buffer[..count].windows(words.len()).any(|said| said == words.as_bytes());
        if is_it {
            *left.lock().unwrap() = Some(bytes);
        }
        // What is to be answered in part is asked; what is not to be answered is not even heard.
        if !is_it || bytes > 0 {
            server.write_all(&buffer[..count])?;
        }
    }
    Ok(())
}
