package dev.bourse.signin;

import dev.bourse.edge.Answer;
import dev.bourse.edge.Operations;
import dev.bourse.pages.ServedPage;
import io.vertx.core.Future;

/**
 * The page that loads the console's scripts, at every address of theirs: they know what an address
 * means, and the interface what its caller may do.
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
