package org.schedlab.bank.outbox;

import org.schedlab.bank.OnPostgres;

@OnPostgres
class OutboxOnPostgresTest extends OutboxTest {
}
