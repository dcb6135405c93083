package org.schedlab.bank.admin;

import org.schedlab.bank.OnPostgres;

@OnPostgres
class AdminOnPostgresTest extends AdminTest {

    @Override
    String database() {
        return "postgres";
    }
}
