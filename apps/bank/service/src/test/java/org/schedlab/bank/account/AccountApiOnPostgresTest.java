package org.schedlab.bank.account;

import org.schedlab.bank.OnPostgres;

@OnPostgres
class AccountApiOnPostgresTest extends AccountApiTest {
}
