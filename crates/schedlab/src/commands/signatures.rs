//! Signatures of bundles, in OpenSSH's format (PROTOCOL.sshsig), by ssh-keygen: it asks the agent or
//! a security key where the private key is there, and anybody can check what it wrote without us.

use super::unpacked_bundle::temporary;
use contract::{Error, ErrorKind, Result};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use store::OpenBundle;
use sys::open_regular;

/// What is signed: a signature of anything else by the same key is none of a bundle.
const NAMESPACE: &str = "schedlab-bundle";
/// A signature or a public key is a few hundred bytes.
const LARGEST: u64 = 64 << 10;
const PROGRAM: &str = "ssh-keygen";
/// The name by which ssh-keygen knows the one key that is asked for.
const SIGNER: &str = "signer";

/// What is known of a bundle's signature.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Signature {
    /// None lies beside it, and none was asked for.
    Absent,
    /// Of this key, which nobody was asked about.
    OfSomeKey(String),
    /// Of the key that was asked for.
    Expected(String),
    /// Why it is not what it should be.
    Bad(String),
    /// Why nobody looked.
    NotChecked(String),
}

/// The signature's file: the bundle's name with `.sig`, as ssh-keygen names it.
fn beside(bundle: &Path) -> PathBuf {
    let mut name = bundle.as_os_str().to_owned();
    name.push(".sig");
    PathBuf::from(name)
}

/// Signs a bundle with this private key, or with that of this public key which an agent holds.
///
/// # Errors
/// When ssh-keygen is not here or cannot sign, or the signature cannot be written.
pub(super) fn sign(bundle: &Path, key: &Path) -> Result<PathBuf> {
    let attempted = format!("cannot sign {}", bundle.display());
    let input = open_regular(bundle).map_err(|error| Error::environment(&attempted, error))?;
    let mut command = Command::new(PROGRAM);
    command.args(["-Y", "sign", "-q", "-n", NAMESPACE, "-f"]).arg(key).stdin(input);
    // It asks for a passphrase itself.
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| Error::unsupported(&attempted, format!("{PROGRAM}: {error}"), INSTALL))?;
    if !output.status.success() {
        let cause = format!("{PROGRAM} ended with {}", output.status);
        let remedy =
            "give a private key of OpenSSH, or a public key whose private one an agent has";
        return Err(Error::new(ErrorKind::Usage, attempted, cause, remedy));
    }
    let to = beside(bundle);
    // As of the bundle itself, what is there stays.
    let written = File::create_new(&to).and_then(|mut file| file.write_all(&output.stdout));
    written.map_err(|error| Error::environment(format!("cannot write {}", to.display()), error))?;
    Ok(to)
}

const INSTALL: &str = "install OpenSSH's client: apt-get install openssh-client";

/// Checks the signature that lies beside a bundle which was unpacked, against this public key where
/// one is given. It counts only for the bytes that were unpacked: somebody who may write where the
/// bundle lies could put what was signed in place of it meanwhile.
///
/// # Errors
/// When the public key cannot be read, or the bundle.
pub(super) fn check(bundle: &mut OpenBundle, public_key: Option<&Path>) -> Result<Signature> {
    let path = beside(bundle.path());
    let expected = public_key.map(first_line).transpose()?;
    let signature = match bytes_of(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let missing = format!("{} is not there", path.display());
            return Ok(expected.map_or(Signature::Absent, |_| Signature::Bad(missing)));
        }
        Err(error) => {
            return Ok(Signature::Bad(format!("cannot read {}: {error}", path.display())));
        }
    };
    if signature.len() as u64 > LARGEST {
        return Ok(Signature::Bad(format!("{} is no signature: too large", path.display())));
    }
    let home = temporary()?;
    let put = |name: &str, bytes: &[u8]| {
        let to = home.path().join(name);
        match std::fs::write(&to, bytes) {
            Ok(()) => Ok(to),
            Err(error) => Err(Error::environment(format!("cannot write {}", to.display()), error)),
        }
    };
    let signature = put("signature", &signature)?;
    let mut command = Command::new(PROGRAM);
    match &expected {
        Some(key) => {
            let signers = put("signers", format!("{SIGNER} {key}\n").as_bytes())?;
            command.args(["-Y", "verify", "-I", SIGNER, "-f"]).arg(signers);
        }
        None => {
            command.args(["-Y", "check-novalidate"]);
        }
    }
    command.args(["-n", NAMESPACE, "-s"]).arg(signature);
    asked(command, bundle, expected.is_some())
}

/// The first bytes of a signature, and one more than it may have.
fn bytes_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Asks ssh-keygen, which reads the bundle from its standard input.
fn asked(mut command: Command, bundle: &mut OpenBundle, is_expected: bool) -> Result<Signature> {
    let attempted = format!("cannot check the signature of {}", bundle.path().display());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        // Who asks for a key must not be told that all is well.
        Err(error) if is_expected => {
            return Err(Error::unsupported(attempted, format!("{PROGRAM}: {error}"), INSTALL));
        }
        Err(error) => return Ok(Signature::NotChecked(format!("{PROGRAM}: {error}; {INSTALL}"))),
    };
    let written = child.stdin.take().map_or(Ok(false), |stdin| bundle.write_to(stdin));
    let output = child.wait_with_output().map_err(|error| Error::environment(&attempted, error))?;
    match (judged(&output, is_expected), written) {
        // What it says of a signature that is none, it may say before it has read all.
        (Signature::Bad(why), _) => Ok(Signature::Bad(why)),
        (_, Err(error)) => Err(Error::environment(attempted, error)),
        (_, Ok(false)) => Ok(Signature::Bad(IS_OF_OTHER_BYTES.to_owned())),
        (signature, Ok(true)) => Ok(signature),
    }
}

/// Said of a good signature of what was not unpacked.
const IS_OF_OTHER_BYTES: &str = "it is of other bytes than those that were unpacked: the file was \
                                 changed meanwhile, or goes on after the end of the bundle";

/// What ssh-keygen found: `Good "NAMESPACE" signature ... with ED25519 key SHA256:...`.
fn judged(output: &Output, is_expected: bool) -> Signature {
    let said = String::from_utf8_lossy(&output.stdout);
    let key = said.lines().find_map(|line| Some(line.split_once(" with ")?.1.to_owned()));
    match (output.status.success(), key) {
        (true, Some(key)) if is_expected => Signature::Expected(shown(&key)),
        (true, Some(key)) => Signature::OfSomeKey(shown(&key)),
        _ => {
            let errors = String::from_utf8_lossy(&output.stderr);
            let why = errors.lines().chain(said.lines()).find(|line| !line.trim().is_empty());
            Signature::Bad(shown(why.unwrap_or("ssh-keygen says no more")))
        }
    }
}

/// A line of another program, for a terminal.
fn shown(line: &str) -> String {
    const LONGEST: usize = 200;
    let clean = |c: char| if model::is_obeyed(c) { char::REPLACEMENT_CHARACTER } else { c };
    line.trim().chars().take(LONGEST).map(clean).collect()
}

/// The key in a file as `id_ed25519.pub`.
fn first_line(path: &Path) -> Result<String> {
    let attempted = format!("cannot read the public key {}", path.display());
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(LARGEST).read_to_string(&mut text))
        .map_err(|error| Error::usage(&attempted, error, "give a file such as id_ed25519.pub"))?;
    let line = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    match line {
        Some(line) if !line.contains("PRIVATE KEY") => Ok(line.to_owned()),
        _ => Err(Error::usage(
            attempted,
            "it holds no public key",
            "give a file such as id_ed25519.pub",
        )),
    }
}
