//! TLS before a server that has none: it ends here, and what is in it goes on to the server.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustix::event::{PollFd, PollFlags, poll};
use tls::rustls::crypto::ring::default_provider;
use tls::rustls::pki_types::PrivateKeyDer;
use tls::rustls::version::{TLS12, TLS13};
use tls::rustls::{ServerConfig, ServerConnection};

use crate::folder::Folder;

/// A server's end of TLS, with a certificate for `localhost` and 127.0.0.1.
pub(crate) struct Front {
    address: SocketAddr,
    authority: String,
    file: AuthorityFile,
}

/// A certificate in a file, for as long as this value lives.
pub(crate) struct AuthorityFile {
    _folder: Folder,
    path: String,
}

impl Front {
    /// Before the server at this address, `127.0.0.1:8080`.
    pub(crate) fn of(upstream: &str) -> Front {
        let (authority, config) = config();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let upstream: SocketAddr = upstream.parse().unwrap();
        thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let config = Arc::clone(&config);
                thread::spawn(move || {
                    let upstream = TcpStream::connect(upstream)?;
                    pass_on(socket, upstream, ServerConnection::new(config).unwrap())
                });
            }
        });
        let file = AuthorityFile::of(&authority);
        Front { address, authority, file }
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// `https://localhost:PORT` and a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.port())
    }

    /// The authority's certificate, as a file.
    pub(crate) fn ca(&self) -> &str {
        self.file.path()
    }

    /// The authority's certificate as PEM.
    pub(crate) fn authority(&self) -> &str {
        &self.authority
    }
}

impl AuthorityFile {
    pub(crate) fn of(pem: &str) -> AuthorityFile {
        let (folder, path) = Folder::with("ca.pem", pem);
        AuthorityFile { _folder: folder, path }
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }
}

fn config() -> (String, Arc<ServerConfig>) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, "an authority for tests");
    let key = KeyPair::generate().unwrap();
    let authority = params.self_signed(&key).unwrap().pem();
    let issuer = Issuer::new(params, key);
    let names = ["localhost", "127.0.0.1"].map(String::from).to_vec();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &issuer).unwrap();
    let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    let mut config = ServerConfig::builder_with_provider(default_provider().into())
        .with_protocol_versions(&[&TLS13, &TLS12])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    (authority, config.into())
}

/// Until one of the two ends.
fn pass_on(
    mut client: TcpStream,
    mut server: TcpStream,
    mut tls: ServerConnection,
) -> std::io::Result<()> {
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    tls.set_buffer_limit(None);
    let mut buffer = vec![0; 64 << 10];
    loop {
        while tls.wants_write() {
            tls.write_tls(&mut client)?;
        }
        let mut fds = [PollFd::new(&client, PollFlags::IN), PollFd::new(&server, PollFlags::IN)];
        poll(&mut fds, None)?;
        let [from_client, from_server] = fds.map(|fd| !fd.revents().is_empty());
        if from_client {
            if tls.read_tls(&mut client)? == 0 {
                return Ok(());
            }
            if tls.process_new_packets().is_err() {
                // Its alert is to be sent.
                tls.write_tls(&mut client)?;
                return Ok(());
            }
            let mut plain = Vec::new();
            let read = tls.reader().read_to_end(&mut plain);
            server.write_all(&plain)?;
            if read.is_ok() {
                return Ok(());
            }
        }
        if from_server {
            let len = server.read(&mut buffer)?;
            if len == 0 {
                tls.send_close_notify();
                tls.write_tls(&mut client)?;
                return Ok(());
            }
            tls.writer().write_all(&buffer[..len])?;
        }
    }
}
