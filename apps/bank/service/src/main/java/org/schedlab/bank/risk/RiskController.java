package org.schedlab.bank.risk;

import org.schedlab.bank.account.AccountService;
import org.schedlab.bank.events.Epoch;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

@RestController
class RiskController {

    private final AccountService accounts;
    private final RiskPool pool;
    private final Epoch epoch;

    RiskController(AccountService accounts, RiskPool pool, Epoch epoch) {
        this.accounts = accounts;
        this.pool = pool;
        this.epoch = epoch;
    }

    @GetMapping("/api/accounts/{id}/risk")
    RiskView risk(@PathVariable long id, @RequestParam(defaultValue = "1000") int paths,
            @RequestParam(defaultValue = "2") int tasks) {
        RiskQuestion question = new RiskQuestion(epoch.seed(), id, paths, tasks);
        // The account is looked up before the computing, which thus holds neither a lock nor a connection.
        accounts.find(id);
        return pool.answer(question);
    }
}
