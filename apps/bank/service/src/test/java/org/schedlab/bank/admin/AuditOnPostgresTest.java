package org.schedlab.bank.admin;

import org.schedlab.bank.OnPostgres;

@OnPostgres
class AuditOnPostgresTest extends AuditTest {
}
