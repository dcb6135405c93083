package org.schedlab.bank.outbox;

import java.util.Collection;
import java.util.List;
import org.springframework.data.domain.Limit;
import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.data.jpa.repository.Modifying;
import org.springframework.data.jpa.repository.Query;
import org.springframework.transaction.annotation.Transactional;

interface OutboxRepository extends JpaRepository<OutboxEvent, Long> {

    // Ordered like the index, so that a long outbox is not sorted for every batch.
    @Query("select e from OutboxEvent e where e.sent = false order by e.sent, e.id")
    List<OutboxEvent> unsent(Limit limit);

    @Query("select count(e) from OutboxEvent e where e.sent = false")
    long countUnsent();

    @Modifying
    @Transactional
    @Query("update OutboxEvent e set e.sent = true where e.id in :ids")
    int markSent(Collection<Long> ids);
}
