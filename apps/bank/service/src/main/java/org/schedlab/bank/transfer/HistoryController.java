package org.schedlab.bank.transfer;

import java.util.List;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

@RestController
class HistoryController {

    private final History history;

    HistoryController(History history) {
        this.history = history;
    }

    @GetMapping("/api/accounts/{id}/transactions")
    List<TransferView> newest(@PathVariable long id, @RequestParam(defaultValue = "20") int limit) {
        return history.newest(id, limit);
    }
}
