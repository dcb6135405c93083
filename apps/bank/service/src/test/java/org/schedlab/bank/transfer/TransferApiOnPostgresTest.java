package org.schedlab.bank.transfer;

import org.schedlab.bank.OnPostgres;

@OnPostgres
class TransferApiOnPostgresTest extends TransferApiTest {
}
