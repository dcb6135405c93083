package org.schedlab.bank.account;

import java.net.URI;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/api/accounts")
class AccountController {

    private final AccountService accounts;

    AccountController(AccountService accounts) {
        this.accounts = accounts;
    }

    @PostMapping
    ResponseEntity<AccountView> open(@RequestBody AccountRequest request) {
        AccountView account = accounts.open(request);
        return ResponseEntity.created(URI.create("/api/accounts/" + account.id())).body(account);
    }

    @GetMapping("/{id}")
    AccountView find(@PathVariable long id) {
        return accounts.find(id);
    }

    @GetMapping("/{id}/balance")
    BalanceView balance(@PathVariable long id) {
        return new BalanceView(id, accounts.balance(id));
    }
}
