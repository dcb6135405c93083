package org.schedlab.bank.transfer;

import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/api/transactions")
class TransferController {

    private final TransferService transfers;

    TransferController(TransferService transfers) {
        this.transfers = transfers;
    }

    @PostMapping("/transfer")
    ResponseEntity<TransferView> transfer(
            @RequestHeader(name = "Idempotency-Key", required = false) String key,
            @RequestBody TransferRequest request) {
        Outcome outcome = transfers.transfer(TransferOrder.of(key, request));
        HttpStatus status = outcome.isReplay() ? HttpStatus.OK : HttpStatus.CREATED;
        return ResponseEntity.status(status).body(outcome.transfer());
    }
}
