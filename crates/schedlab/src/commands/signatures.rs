//! Signatures of bundles, in OpenSSH's format (PROTOCOL.sshsig), by ssh-keygen: it asks the agent or
//! a security key where the private key is there, and anybody can check what it wrote without us.

use super::unpacked_bundle::temporary;
use crate::output::tell;
use contract::{Error, ErrorKind, Result};
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, Command, Output, Stdio};
use store::OpenBundle;
use sys::{Draft, open_regular};

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

/// Refuses a key, or a public key beside it, that is no regular file: ssh-keygen would wait for
/// somebody to write into a FIFO. Whether it can sign with what is there it says itself.
///
/// # Errors
/// Of kind `Usage`.
pub(super) fn check_key(key: &Path) -> Result<()> {
    let mut public = key.as_os_str().to_owned();
    public.push(".pub");
    for path in [key, Path::new(&public)] {
        let Err(error) = open_regular(path) else { continue };
        // The private key may be with an agent, and no file.
        if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) {
            let attempted = format!("cannot sign with {}", path.display());
            return Err(Error::usage(attempted, error, GIVE_KEY));
        }
    }
    Ok(())
}

const GIVE_KEY: &str =
    "give a private key of OpenSSH, or a public key whose private one an agent has";

/// The signature of what is to be a bundle of this name, by this private key, or by that of this
/// public key which an agent holds. What ssh-keygen says meanwhile is told.
///
/// # Errors
/// When ssh-keygen is not here or cannot sign, or something has the signature's name.
pub(super) fn of(whole: &File, bundle: &Path, key: &Path) -> Result<Vec<u8>> {
    let attempted = format!("cannot sign {}", bundle.display());
    let fail = |error: io::Error| Error::environment(&attempted, error);
    let to = beside(bundle);
    // As of the bundle itself, what is there stays.
    if to.symlink_metadata().is_ok() {
        return Err(unwritten(&to, &io::Error::from(io::ErrorKind::AlreadyExists)));
    }
    let mut input = whole.try_clone().map_err(fail)?;
    input.rewind().map_err(fail)?;
    let mut command = Command::new(PROGRAM);
    command.args(["-Y", "sign", "-q", "-n", NAMESPACE, "-f"]).arg(key).stdin(input);
    // It asks for a passphrase itself, on the terminal.
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(|error| {
            Error::unsupported(&attempted, format!("{PROGRAM}: {error}"), INSTALL)
        })?;
    let errors = child.stderr.take();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || {
            if let Some(errors) = errors {
                pass_on(errors);
            }
        });
        child.wait_with_output()
    });
    let output = output.map_err(fail)?;
    if !output.status.success() {
        let cause = format!("{PROGRAM} ended with {}", output.status);
        return Err(Error::new(ErrorKind::Usage, &attempted, cause, GIVE_KEY));
    }
    Ok(output.stdout)
}

/// Tells what ssh-keygen says, line by line as it comes.
fn pass_on(said: ChildStderr) {
    let mut said = BufReader::new(said);
    let mut line = Vec::new();
    while matches!(said.by_ref().take(LARGEST).read_until(b'\n', &mut line), Ok(1..)) {
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if !text.is_empty() {
            tell(&format!("{PROGRAM}: {text}"));
        }
        line.clear();
    }
}

/// Puts a signature beside its bundle, and returns where.
///
/// # Errors
/// When it cannot be written, or something has its name.
pub(super) fn put(bundle: &Path, signature: &[u8]) -> Result<PathBuf> {
    let to = beside(bundle);
    let written = || -> io::Result<()> {
        let draft = Draft::beside(&to)?;
        draft.file().write_all(signature)?;
        draft.put_new()
    };
    written().map_err(|error| {
        let left = format!("{error}; {} is there, and nobody signed it", bundle.display());
        unwritten(&to, &left)
    })?;
    Ok(to)
}

fn unwritten(path: &Path, why: &dyn Display) -> Error {
    Error::environment(format!("cannot write {}", path.display()), why)
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
    open_regular(path)
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use store::Manifest;

    /// A bundle of one file with this text.
    fn pack(file: &Path, text: &str) {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("plan.json"), text).unwrap();
        store::pack(home.path(), Manifest::new("1".to_owned(), "one".to_owned(), None), file)
            .unwrap();
    }

    #[test]
    fn what_takes_the_place_of_a_bundle_while_it_is_verified_lends_it_no_signature() {
        if Command::new(PROGRAM).arg("-?").output().is_err() {
            testing::skip("ssh-keygen is not here: apt-get install openssh-client");
            return;
        }
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        let mut keygen = Command::new(PROGRAM);
        keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(at("own"));
        assert!(keygen.status().unwrap().success());
        let (sent, signed) = (at("sent"), at("signed"));
        pack(&signed, "{\"a\": 1}");
        let signature = of(&File::open(&signed).unwrap(), &signed, &at("own")).unwrap();
        put(&sent, &signature).unwrap();
        let public = at("own.pub");
        for is_renamed in [true, false] {
            pack(&at("unsigned"), "{\"a\": 2}");
            fs::rename(at("unsigned"), &sent).unwrap();
            let mut bundle = OpenBundle::open(&sent).unwrap();
            let out = tempfile::tempdir().unwrap();
            bundle.unpack(out.path()).unwrap();
            if is_renamed {
                fs::copy(&signed, at("next")).unwrap();
                fs::rename(at("next"), &sent).unwrap();
            } else {
                fs::write(&sent, fs::read(&signed).unwrap()).unwrap();
            }
            let found = check(&mut bundle, Some(&public)).unwrap();
            assert!(matches!(found, Signature::Bad(_)), "renamed: {is_renamed}: {found:?}");
        }
        // What lies there now is what was signed.
        let mut bundle = OpenBundle::open(&sent).unwrap();
        let out = tempfile::tempdir().unwrap();
        bundle.unpack(out.path()).unwrap();
        let found = check(&mut bundle, Some(&public)).unwrap();
        assert!(matches!(found, Signature::Expected(_)), "{found:?}");
    }
}
