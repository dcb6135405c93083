//! The bank's two servers: where they are built, what they need, how they are started.

use crate::application::Started;
use crate::http;
use contract::{Error, LaunchSpec, ProgramFile, Recipe, Requirement, Result, WordChoice};
use model::Parameters;
use std::fs::File;
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;
use sys::Machine;
use workload_parts::program::ProgramEnvironment;
use workload_parts::program::service::{Beginning, Server, rest_of_line};

/// What events go through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Broker {
    Kafka,
    None,
}

impl WordChoice for Broker {
    const WORDS: &'static [(&'static str, Self)] = &[("kafka", Self::Kafka), ("none", Self::None)];
}

/// A defect of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Defect {
    None,
    LostUpdate,
    DoubleSend,
    SlowStart,
}

impl WordChoice for Defect {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("none", Self::None),
        ("lost-update", Self::LostUpdate),
        ("double-send", Self::DoubleSend),
        ("slow-start", Self::SlowStart),
    ];
}

contract::keys! {
    pub(super) PARAMETERS;
    SOURCE: str = text("source", "apps/bank", "Where the application's sources are"),
    BROKER_OF: Broker = choice(
        "broker",
        "kafka",
        "What events go through: a real broker, or nothing",
    ),
    JAVA_OPTIONS: [String] = words(
        "java_options",
        "-Xms512m -Xmx512m -XX:+ExitOnOutOfMemoryError",
        "Options of the service's JVM",
    ),
    REQUEST_THREADS: u64 = count("request_threads", 1, 1000, "24", "Threads that serve requests"),
}

contract::keys! {
    pub(super) FAULTS;
    FAULT: Defect = choice("fault", "none", "A defect of the service, to see that it is noticed"),
}

/// Names in metrics and files.
pub(super) const SERVICE: &str = "service";
pub(super) const BROKER: &str = "broker";

/// Debian's package of it.
const RUNTIME: &str = "openjdk-17-jre-headless";
const MAIN_OF_BROKER: &str = "org.schedlab.bank.broker.Main";
/// What a broker on loopback with one client needs; measured, it uses 230 MB. One compiler: it is
/// ready 15 s sooner on an emulated processor, and nothing here lives by its throughput.
const BROKER_OPTIONS: [&str; 4] =
    ["-Xms256m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];
const BROKER_IS_READY: &str = "broker: ready on ";
const SERVICE_IS_READY: &str = "bank: ready on http://";
/// Where it serves in a guest whose host sends the load: the port is forwarded
/// before the guest boots.
pub(super) const HOST_LOAD_SERVICE_PORT: u16 = 8480;
const HEALTH: &str = "/actuator/health";

/// The two servers, as they were declared.
pub(super) struct Servers {
    /// Where the application's sources are, and what is built of them.
    source: PathBuf,
    /// Whether events go through a broker.
    has_broker: bool,
    java_options: Vec<String>,
    request_threads: u64,
    fault: Defect,
}

impl Servers {
    pub(super) fn of(parameters: &Parameters) -> Self {
        let source = PathBuf::from(SOURCE.of(parameters));
        Self {
            // What cannot be made absolute is not found either, and that is told.
            source: std::path::absolute(&source).unwrap_or(source),
            has_broker: match BROKER_OF.of(parameters) {
                Broker::Kafka => true,
                Broker::None => false,
            },
            java_options: JAVA_OPTIONS.of(parameters).to_vec(),
            request_threads: REQUEST_THREADS.of(parameters),
            fault: FAULT.of(parameters),
        }
    }

    /// What runs, in the order of its start.
    pub(super) fn names(&self) -> Vec<&'static str> {
        if self.has_broker { vec![BROKER, SERVICE] } else { vec![SERVICE] }
    }

    /// What decides what runs.
    pub(super) fn programs(&self) -> Vec<ProgramFile> {
        let jars = self.has_broker.then(|| self.broker_jars());
        let built = [self.service_jar()].into_iter().chain(jars).map(ProgramFile::File);
        [ProgramFile::Program("java".to_owned())].into_iter().chain(built).collect()
    }

    fn service_jar(&self) -> PathBuf {
        self.source.join("service/target/bank.jar")
    }

    /// The directory of the broker's jars.
    fn broker_jars(&self) -> PathBuf {
        self.source.join("broker/target/broker/lib")
    }

    /// How it is built.
    pub(super) fn recipe(&self) -> Recipe {
        let words = ["mvn", "--batch-mode", "--quiet", "-DskipTests", "package"];
        Recipe {
            what: "the bank".to_owned(),
            directory: self.source.clone(),
            words: words.map(str::to_owned).to_vec(),
            products: vec![self.service_jar(), self.broker_jars()],
            stamp: self.source.join("target/built"),
        }
    }

    /// A JVM, and the application or what builds it.
    pub(super) fn requirements(&self) -> Vec<Requirement> {
        let (jar, source) = (self.service_jar(), self.source.clone());
        let built = Requirement::check("the bank, built or to be built", move |machine| {
            if jar.is_file() {
                return Ok(());
            }
            if !source.join("pom.xml").is_file() {
                let remedy = "name the directory apps/bank of schedlab's sources (source)";
                return Err((format!("{} has no pom.xml", source.display()), remedy.to_owned()));
            }
            if machine.program("mvn").is_none() {
                let remedy = "install it: apt-get install maven openjdk-17-jdk-headless";
                return Err((
                    "it is not built, and mvn is not on PATH".to_owned(),
                    remedy.to_owned(),
                ));
            }
            Ok(())
        });
        vec![Requirement::check("a Java runtime", has_java), built]
    }

    /// Starts the broker, where there is one, and the service.
    ///
    /// # Errors
    /// Which of them could not be started, and why. `within` is how long each may take to be ready.
    pub(super) fn start(
        &self,
        machine: &Machine,
        (launch, levels): (&LaunchSpec, Option<&LaunchSpec>),
        (within, is_loaded_from_host): (Duration, bool),
    ) -> Result<Started> {
        let start = |name, stem, words: &[String], variables, is_ready: &mut dyn FnMut() -> _| {
            let surroundings = ProgramEnvironment { variables, ..ProgramEnvironment::default() };
            let beginning = Beginning { name, stem, words, surroundings, levels, within };
            Server::start_until(machine, &beginning, launch, is_ready)
        };
        let mut servers = Vec::new();
        let port = if is_loaded_from_host { HOST_LOAD_SERVICE_PORT } else { 0 };
        let mut variables = vec![
            ("BANK_PORT", port.to_string()),
            ("BANK_THREADS", self.request_threads.to_string()),
        ];
        if is_loaded_from_host {
            variables.push(("BANK_ADDRESS", Ipv4Addr::UNSPECIFIED.to_string()));
        }
        if self.has_broker {
            let mut address = None;
            let words = self.broker_words(&launch.scratch.join("broker"));
            let broker = start("the broker", BROKER, &words, Vec::new(), &mut || {
                address = Some(ready(&launch.scratch, BROKER, BROKER_IS_READY)?);
                Ok(())
            })?;
            servers.push((BROKER, broker));
            let address = address.ok_or_else(|| unknown("the broker"))?;
            variables.push(("BANK_KAFKA", address.to_string()));
        } else {
            variables.push(("BANK_EVENTS", "local".to_owned()));
        }
        match self.fault {
            Defect::None => {}
            // In the service's words, which are those of the parameter.
            fault @ (Defect::LostUpdate | Defect::DoubleSend | Defect::SlowStart) => {
                variables.push(("BANK_FAULT", fault.word().to_owned()));
            }
        }
        let mut address = None;
        let words = self.service_words();
        let service = start("the service", SERVICE, &words, variables, &mut || {
            let at = ready(&launch.scratch, SERVICE, SERVICE_IS_READY)?;
            address = Some(at);
            http::answers(at, HEALTH)
        })?;
        servers.push((SERVICE, service));
        let address = address.ok_or_else(|| unknown("the service"))?;
        Ok(Started { servers, address })
    }

    fn broker_words(&self, data: &Path) -> Vec<String> {
        let jars = format!("{}/*", self.broker_jars().display());
        let java = ["java"].into_iter().chain(BROKER_OPTIONS).map(str::to_owned);
        let (jars, data) = (["-cp".to_owned(), jars], data.display().to_string());
        let own = [MAIN_OF_BROKER, "--port", "0", "--controller-port", "0", "--data", &data];
        java.chain(jars).chain(own.map(str::to_owned)).collect()
    }

    fn service_words(&self) -> Vec<String> {
        let options = self.java_options.iter().cloned();
        let jar = ["-jar".to_owned(), self.service_jar().display().to_string()];
        ["java".to_owned()].into_iter().chain(options).chain(jar).collect()
    }
}

/// A program `java` with the runtime that it loads. A guest may have been given the one without
/// the other.
///
/// # Errors
/// What is missing, and how to get it.
fn has_java(machine: &Machine) -> std::result::Result<(), (String, String)> {
    let Some(java) = machine.program("java") else {
        let remedy = format!("install it: apt-get install {RUNTIME}");
        return Err(("java is not on PATH".to_owned(), remedy));
    };
    let java = java.canonicalize().unwrap_or(java);
    let home = java.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
    // Where the launcher looks for it (JEP 220); a script may look elsewhere.
    let modules = home.join("lib/modules");
    if modules.exists() || !is_elf(&java) {
        return Ok(());
    }
    let remedy = format!(
        "give the guest all of it ([vm] tools = [\"{RUNTIME}\"]), or install it: apt-get install \
         {RUNTIME}"
    );
    Err((format!("{} is there, {} is not", java.display(), modules.display()), remedy))
}

fn is_elf(path: &Path) -> bool {
    let mut magic = [0; 4];
    File::open(path)
        .is_ok_and(|mut file| file.read_exact(&mut magic).is_ok() && magic == *b"\x7fELF")
}

/// Where a server said that it serves.
///
/// # Errors
/// That it has not said so.
fn ready(scratch: &Path, stem: &str, beginning: &str) -> std::result::Result<SocketAddr, String> {
    let rest = rest_of_line(scratch, stem, beginning).ok_or("it has not said so")?;
    let address = rest.split_whitespace().next().unwrap_or_default();
    address.parse().map_err(|_| format!("it says that it serves at {address:?}"))
}

fn unknown(server: &str) -> Error {
    Error::environment(format!("cannot use {server}"), "it has not said where it serves")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_launcher_without_its_runtime_is_no_java() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let machine = || Machine::host(at("run")).with_search_path(at("bin").to_string_lossy());
        assert_eq!(has_java(&machine()).unwrap_err().0, "java is not on PATH");
        std::fs::create_dir_all(at("bin")).unwrap();
        std::fs::create_dir_all(at("jdk/bin")).unwrap();
        let launcher = |bytes: &[u8]| {
            std::fs::write(at("jdk/bin/java"), bytes).unwrap();
            let executable = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(at("jdk/bin/java"), executable).unwrap();
        };
        launcher(b"\x7fELF and more");
        std::os::unix::fs::symlink("../jdk/bin/java", at("bin/java")).unwrap();
        let (why, remedy) = has_java(&machine()).unwrap_err();
        assert!(why.contains("jdk/lib/modules") && remedy.contains("tools ="), "{why}; {remedy}");
        std::fs::create_dir_all(at("jdk/lib")).unwrap();
        std::fs::write(at("jdk/lib/modules"), "").unwrap();
        has_java(&machine()).unwrap();
        std::fs::remove_dir_all(at("jdk/lib")).unwrap();
        launcher(b"#!/bin/sh\n");
        has_java(&machine()).unwrap();
    }

    #[test]
    fn where_a_server_serves_is_what_it_says_in_a_whole_line() {
        let directory = tempfile::tempdir().unwrap();
        let say =
            |text: &str| std::fs::write(directory.path().join("broker-stdout"), text).unwrap();
        let read = || ready(directory.path(), BROKER, BROKER_IS_READY);
        assert!(read().unwrap_err().contains("has not said"));
        say("[main] WARN x\nbroker: ready on 127.0.0.1:4");
        assert!(read().unwrap_err().contains("has not said"), "half a line");
        say("[main] WARN x\nbroker: ready on 127.0.0.1:45091 pid 7\n");
        assert_eq!(read().unwrap(), "127.0.0.1:45091".parse().unwrap());
        say("broker: ready on nowhere pid 7\n");
        assert!(read().unwrap_err().contains("nowhere"));
    }
}
