package org.schedlab.bank.events;

import org.schedlab.bank.OnPostgres;

@OnPostgres
class EpochOnPostgresTest extends EpochTest {
}
