package dev.bourse.client.capacity;

import dev.bourse.command.OperationCommand;
import dev.bourse.command.Question;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import io.vertx.core.json.JsonObject;
import java.time.Clock;

/**
 * The losses that a declaration or a bid causes, from a preview of the body to be sent.
 *
 * @param path where the surface reads and writes it; its preview is beneath
 * @param clock of the user's machine
 */
public record DeclarationLosses(String path, Clock clock) implements OperationCommand.Losses {
  private static final String VERSION = "expected_version";

  /** Returns the losses of a VM cluster's declaration. */
  public static DeclarationLosses ofCapacity(Clock clock) {
    return new DeclarationLosses(ClusterCommand.CAPACITY, clock);
  }

  /** Returns the losses of a Kubernetes cluster's bid. */
  public static DeclarationLosses ofBid(Clock clock) {
    return new DeclarationLosses("/api/k8s/bid", clock);
  }

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
    String address = cluster == null ? path : path + "?cluster=" + Service.encoded(cluster);
    JsonObject state = K8sCapacity.of(service.call("GET", address, null));
    if (!body.containsKey(VERSION)) {
      body.put(VERSION, state.getLong("version"));
    }
    JsonObject preview = service.call("POST", path + "/preview", body);
    return new DeclaredChange(
        state, K8sCapacity.declaration(body, state), K8sCapacity.preview(preview), clock.instant());
  }
}
