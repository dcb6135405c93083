package org.schedlab.bank.admin;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/admin")
class AdminController {

    private final Seeder seeder;
    private final Books books;
    private final ThisProcess process;

    AdminController(Seeder seeder, Books books, ThisProcess process) {
        this.seeder = seeder;
        this.books = books;
        this.process = process;
    }

    @PostMapping("/seed")
    SeedView seed(@RequestBody SeedRequest request) {
        return seeder.seed(request);
    }

    @GetMapping("/books")
    BooksView books(@RequestParam(defaultValue = "0") int drained) {
        return books.read(drained);
    }

    @GetMapping("/process")
    ProcessView process() {
        return process.read();
    }
}
