package org.schedlab.bank.problem;

import java.net.URI;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.TransientDataAccessException;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.transaction.TransactionException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;

/** Turns every error into a problem document (RFC 9457). */
@RestControllerAdvice
public class Problems extends ResponseEntityExceptionHandler {

    private static final Logger LOG = LoggerFactory.getLogger(Problems.class);

    @ExceptionHandler(Refusal.class)
    ResponseEntity<ProblemDetail> refused(Refusal refusal) {
        ProblemDetail problem = ProblemDetail.forStatusAndDetail(status(refusal.kind()), refusal.getMessage());
        problem.setType(URI.create("urn:schedlab:bank:" + slug(refusal.kind())));
        return answer(problem);
    }

    /**
     * A lock or a connection was not to be had in time, or the connection broke: the client may try again.
     * Where it broke at the commit, only the same Idempotency-Key keeps a transfer from being made twice.
     */
    @ExceptionHandler({TransientDataAccessException.class, DataAccessResourceFailureException.class,
        TransactionException.class})
    ResponseEntity<ProblemDetail> busy(Exception error) {
        LOG.warn("the database is busy or away: {}", error.getMessage());
        return answer(ProblemDetail.forStatusAndDetail(HttpStatus.SERVICE_UNAVAILABLE,
                "the database is busy or away, try again with the same key"));
    }

    @ExceptionHandler(Exception.class)
    ResponseEntity<ProblemDetail> unexpected(Exception error) {
        if (LostConnection.isBehind(error)) {
            return busy(error);
        }
        LOG.error("a request failed", error);
        return answer(ProblemDetail.forStatusAndDetail(HttpStatus.INTERNAL_SERVER_ERROR,
                "the request failed, the log of the service says why"));
    }

    private static ResponseEntity<ProblemDetail> answer(ProblemDetail problem) {
        return ResponseEntity.status(problem.getStatus())
                .contentType(MediaType.APPLICATION_PROBLEM_JSON)
                .body(problem);
    }

    private static HttpStatus status(Refusal.Kind kind) {
        return switch (kind) {
            case MALFORMED -> HttpStatus.BAD_REQUEST;
            case UNKNOWN_ACCOUNT -> HttpStatus.NOT_FOUND;
            case KEY_REUSED -> HttpStatus.CONFLICT;
            case SAME_ACCOUNT, INSUFFICIENT_FUNDS, BALANCE_TOO_LARGE -> HttpStatus.UNPROCESSABLE_CONTENT;
            case OVERLOADED -> HttpStatus.SERVICE_UNAVAILABLE;
        };
    }

    private static String slug(Refusal.Kind kind) {
        return kind.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
