//! Where trials run: this host, or the seeded simulator
