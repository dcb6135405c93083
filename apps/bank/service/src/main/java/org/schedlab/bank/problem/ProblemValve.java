package org.schedlab.bank.problem;

import java.io.IOException;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ErrorReportValve;

/** A problem document for a request that the server gives up before it reaches the application. */
public class ProblemValve extends ErrorReportValve {

    private static final int FIRST_ERROR = 400;

    @Override
    protected void report(Request request, Response response, Throwable error) {
        int status = response.getStatus();
        if (status < FIRST_ERROR || response.getContentWritten() > 0 || !response.setErrorReported()) {
            return;
        }
        try {
            response.setContentType("application/problem+json");
            response.getReporter().write("{\"status\":" + status + ",\"title\":\"The request cannot be served\"}");
            response.finishResponse();
        } catch (IOException | IllegalStateException gone) {
            // The client is gone, so nobody reads the answer.
        }
    }
}
