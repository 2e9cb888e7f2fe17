package dev.bourse.signin;

import dev.bourse.edge.Answer;
import dev.bourse.edge.Operations;
import dev.bourse.pages.ServedPage;
import io.vertx.core.Future;

/**
 * Serves the page that loads the console's scripts at all of their addresses. The scripts interpret
 * the address, and the API checks the caller's permissions.
 */
public final class ShellRoutes {
  private final Sessions sessions;
  private final Answer.Served shell;

  ShellRoutes(Sessions sessions, ServedPage shell) {
    this.sessions = sessions;
    this.shell = new Answer.Served(shell);
  }

  /** Binds the operations. */
  public void bind(Operations operations) {
    operations
        .bind(
            "showConsole",
            call ->
                sessions
                    .find(call)
                    .map(
                        session ->
                            session.isPresent()
                                ? shell
                                : sessions.requireSignIn(call, call.target())))
        // Operators sign in on the page itself.
        .bind("showOperatorConsole", call -> Future.succeededFuture(shell));
  }
}
