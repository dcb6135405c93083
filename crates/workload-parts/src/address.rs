//! The address of a far side that the user has started.

use std::net::{IpAddr, SocketAddr};

/// Reads `IP:PORT`. `hint` says where a user has it from. Names are not looked up: only what the
/// user gave is contacted.
///
/// # Errors
/// When it is something else, or stands for more than one machine.
pub fn one_machine(text: &str, hint: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr = text.parse().map_err(|_| {
        format!("address = {text:?}: expected IP:PORT {hint}; names are not looked up")
    })?;
    let is_many = match address.ip() {
        IpAddr::V4(ip) => ip.is_broadcast() || ip.is_multicast() || ip.is_unspecified(),
        IpAddr::V6(ip) => ip.is_multicast() || ip.is_unspecified(),
    };
    if is_many || address.port() == 0 {
        return Err(format!("address = {text:?}: expected the address and port of one machine"));
    }
    Ok(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_address_of_one_machine_is_one() {
        for right in ["127.0.0.1:7171", "192.0.2.7:1", "[2001:db8::7]:65535"] {
            assert!(one_machine(right, "").is_ok(), "{right}");
        }
        let wrong = [
            "",
            "localhost:7171",
            "example.org:7171",
            "192.0.2.7",
            "192.0.2.7:0",
            "0.0.0.0:7171",
            "255.255.255.255:7171",
            "224.0.0.1:7171",
            "[ff02::1]:7171",
            "[::]:7171",
            "192.0.2.7:7171/path",
        ];
        for wrong in wrong {
            assert!(one_machine(wrong, "").is_err(), "{wrong}");
        }
        assert!(one_machine("localhost:1", "").unwrap_err().contains("not looked up"));
    }
}
