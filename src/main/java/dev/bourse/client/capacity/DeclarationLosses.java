package dev.bourse.client.capacity;

import dev.bourse.command.OperationCommand;
import dev.bourse.command.Question;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import io.vertx.core.json.JsonObject;
import java.time.Clock;

/**
 * The losses that a VM cluster's declaration causes, from a preview of the body to be sent.
 *
 * @param clock of the user's machine
 */
public record DeclarationLosses(Clock clock) implements OperationCommand.Losses {
  private static final String VERSION = "expected_version";

  @Override
  public Question question(Service service, JsonObject body) throws RefusedException {
    DeclaredChange change;
    try {
      change = change(service, body);
    } catch (RefusedException refused) {
      return Question.unread(refused);
    }
    change.requireAccepted();
    return change.question();
  }

  private DeclaredChange change(Service service, JsonObject body) throws RefusedException {
    String cluster = body.getString("cluster");
    String address =
        cluster == null
            ? ClusterCommand.CAPACITY
            : ClusterCommand.CAPACITY + "?cluster=" + Service.encoded(cluster);
    JsonObject capacity = service.call("GET", address, null);
    if (!body.containsKey(VERSION)) {
      body.put(VERSION, capacity.getLong("version"));
    }
    JsonObject preview = service.call("POST", DeclarationCommand.PREVIEW, body);
    return new DeclaredChange(capacity, body, preview, clock.instant());
  }
}
