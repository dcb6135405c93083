//! The environment of a build: what says how registries are reached, where tools of this machine
//! lie and with which of them a kernel is built, and nothing else. Whatever is not listed stays with the caller.

use std::ffi::OsString;

/// Names that a build gets.
const PASSED: [&str; 23] = [
    "all_proxy",
    "ALL_PROXY",
    "CARGO_BUILD_JOBS",
    "CARGO_REGISTRY_DEFAULT",
    "CROSS_COMPILE",
    "http_proxy",
    "HTTP_PROXY",
    "https_proxy",
    "HTTPS_PROXY",
    "JAVA_HOME",
    "KCFLAGS",
    "LIBCLANG_PATH",
    "LLVM",
    "LLVM_IAS",
    "M2_HOME",
    "MAVEN_ARGS",
    "MAVEN_HOME",
    "MAVEN_OPTS",
    "no_proxy",
    "NO_PROXY",
    "PKG_CONFIG_PATH",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
];
/// Beginnings of further names: how cargo reaches registries.
const PASSED_WITH: [&str; 4] = ["CARGO_HTTP_", "CARGO_NET_", "CARGO_REGISTRIES_", "CARGO_SOURCE_"];
/// What names a secret, as part of a variable's name, or of an option or query in its value.
const SECRETS: [&str; 6] = ["TOKEN", "PASSWORD", "PASSWD", "SECRET", "KEY", "CREDENTIAL"];

/// Variables of a caller that a build gets: an allow-list. One of it that holds a secret (its name
/// says so, or its value has a user in a URL or an option such as `-Dhttps.proxyPassword=`) is left
/// out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BuildVariables(Vec<(OsString, OsString)>);

impl BuildVariables {
    /// Those of an environment.
    pub fn of(environment: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let is_passed = |(name, value): &(OsString, OsString)| {
            // What is not UTF-8 cannot be read for secrets.
            let (Some(name), Some(value)) = (name.to_str(), value.to_str()) else { return false };
            is_listed(name) && !holds_secret(name, value)
        };
        Self(environment.into_iter().filter(is_passed).collect())
    }

    /// Names and values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&OsString, &OsString)> {
        self.0.iter().map(|(name, value)| (name, value))
    }
}

fn is_listed(name: &str) -> bool {
    PASSED.contains(&name) || PASSED_WITH.iter().any(|start| name.starts_with(start))
}

fn holds_secret(name: &str, value: &str) -> bool {
    let names_secret = |text: &str| {
        let text = text.to_uppercase();
        SECRETS.iter().any(|word| text.contains(word))
    };
    let has_user = |authority: &str| {
        let end = authority.find(['/', '?', '#', ',', '|', ' ']).unwrap_or(authority.len());
        authority.get(..end).is_some_and(|authority| authority.contains('@'))
    };
    // curl(1) takes a proxy without `http://`, too.
    let is_proxy = name.to_uppercase().ends_with("PROXY");
    names_secret(name)
        || (value.contains('=') && names_secret(value))
        || value.split("://").skip(1).any(has_user)
        || (is_proxy && value.contains('@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_passed(name: &str, value: &str) -> bool {
        let variables = BuildVariables::of([(OsString::from(name), OsString::from(value))]);
        variables.iter().count() == 1
    }

    #[test]
    fn how_registries_are_reached_is_passed_on() {
        for (name, value) in [
            ("https_proxy", "http://proxy.example:3128"),
            ("NO_PROXY", "localhost,.example"),
            ("CARGO_HTTP_CAINFO", "/etc/ssl/own@house.pem"),
            ("CARGO_NET_RETRY", "5"),
            ("CARGO_REGISTRIES_MIRROR_INDEX", "sparse+https://mirror.example/index/"),
            ("SSL_CERT_FILE", "/etc/ssl/keys/ca.pem"),
            ("MAVEN_OPTS", "-Xmx512m -Dhttps.proxyHost=proxy.example"),
            ("JAVA_HOME", "/usr/lib/jvm/default-java"),
            ("LLVM", "-19"),
            ("KCFLAGS", "-O3 -march=native"),
        ] {
            assert!(is_passed(name, value), "{name}={value}");
        }
    }

    #[test]
    fn neither_secrets_nor_what_nobody_listed_is_passed_on() {
        for (name, value) in [
            ("PATH", "/opt/bin"),
            ("HOME", "/opt"),
            ("LD_PRELOAD", "/tmp/a.so"),
            ("BASH_ENV", "/tmp/a.sh"),
            ("SCHEDLAB_UNKNOWN", "1"),
            ("VAULT_ADDR", "https://vault.example"),
            ("CARGO_REGISTRY_TOKEN", "1"),
            ("CARGO_REGISTRIES_MIRROR_TOKEN", "1"),
            ("CARGO_REGISTRIES_MIRROR_CREDENTIAL_PROVIDER", "cargo:token"),
            ("CARGO_REGISTRIES_MIRROR_SECRET_KEY", "1"),
            ("CARGO_REGISTRIES_MIRROR_INDEX", "sparse+https://me:word@mirror.example/index/"),
            ("https_proxy", "http://me:word@proxy.example:3128"),
            ("HTTPS_PROXY", "me:word@proxy.example:3128"),
            ("CARGO_HTTP_PROXY", "me@proxy.example"),
            ("CARGO_SOURCE_MIRROR_REGISTRY", "https://mirror.example/?token=1"),
            ("MAVEN_OPTS", "-Dhttps.proxyPassword=word"),
        ] {
            assert!(!is_passed(name, value), "{name}={value}");
        }
    }
}
