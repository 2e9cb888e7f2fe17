package dev.bourse.client.capacity;

import dev.bourse.client.account.MemberCommandContext;
import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.command.AnswerFormat;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code bourse status}. */
@Command(
    name = "status",
    description = {
      "Shows what clusters of both kinds declare, hold and pay, and in the table which nodes they will lose.",
      "",
      """
      With --watch it follows one cluster: on a terminal as a table that is drawn anew, elsewhere a \
      line for each event, as JSON with -o json. A lost connection is taken up where it ended.\
      """
    },
    mixinStandardHelpOptions = true)
final class ClusterStatusCommand extends ClusterCommand {
  /**
   * Each cluster takes a request; with more clusters, a user can name one, or list them with bourse
   * clusters list.
   */
  private static final int MOST_CLUSTERS = 20;

  private static final int FORBIDDEN = 403;
  private static final int NOT_FOUND = 404;

  /** The status does not wait longer for an outlook, which it can do without. */
  private static final Duration OUTLOOK_TIMEOUT = Duration.ofSeconds(5);

  @Option(
      names = {"-w", "--watch"},
      description = "Follow a cluster until Ctrl-C.")
  private boolean isWatched;

  @Mixin
  private final MemberCommandContext.FormatOptions format =
      new MemberCommandContext.FormatOptions();

  private final WatchedCluster watched = new WatchedCluster();

  ClusterStatusCommand(CommandEnvironment environment) {
    super(environment);
  }

  @Override
  protected void run() throws RefusedException {
    Service service = signedIn();
    if (isWatched) {
      watch(service);
      return;
    }
    List<JsonObject> states = states(service);
    if (format.get().form() == AnswerFormat.Form.table && format.get().fields().isEmpty()) {
      out().print(StatusText.of(states, outlooks(service, states)));
    } else {
      JsonObject answer = new JsonObject().put("clusters", new JsonArray(states));
      out().print(format.get().print(answer));
    }
  }

  private List<JsonObject> states(Service service) throws RefusedException {
    if (clusterNamed().isPresent()) {
      return List.of(named(service, clusterNamed().get()));
    }
    List<JsonObject> states = new ArrayList<>();
    JsonObject caller = service.call("GET", "/api/whoami", null);
    known().learnWhoami(caller);
    for (Object listed : caller.getJsonArray("clusters")) {
      JsonObject cluster = (JsonObject) listed;
      if (states.size() == MOST_CLUSTERS) {
        // Printed after the list, also when the two streams are separate.
        err().println("more than " + MOST_CLUSTERS + " clusters; -c names one of the others");
        break;
      }
      String name = cluster.getString("name");
      if (VM.equals(cluster.getString("kind"))) {
        JsonObject state = capacity(service, name);
        learn(state);
        states.add(state);
      } else {
        addK8s(service, name, states);
      }
    }
    if (states.isEmpty()) {
      throw new RefusedException(
          ExitCode.REFUSED, "the organization has no cluster; bourse clusters create makes one");
    }
    return states;
  }

  /** Adds a Kubernetes cluster. A token for VM clusters alone sees the others without it. */
  private void addK8s(Service service, String name, List<JsonObject> states)
      throws RefusedException {
    try {
      states.add(k8s(service, name));
    } catch (RefusedException refused) {
      if (refused.status() != FORBIDDEN) {
        throw refused;
      }
      err().println(name + " is not shown: " + refused.getMessage());
    }
  }

  private static JsonObject k8s(Service service, String name) throws RefusedException {
    return service.call("GET", "/api/k8s/clusters/" + Service.encoded(name), null);
  }

  /** Reads a cluster of either kind. The command's option does not name the kind. */
  private JsonObject named(Service service, String name) throws RefusedException {
    try {
      return capacity(service);
    } catch (RefusedException refused) {
      if (refused.status() != NOT_FOUND && refused.status() != FORBIDDEN) {
        throw refused;
      }
      try {
        return k8s(service, name);
      } catch (RefusedException alsoRefused) {
        throw refused;
      }
    }
  }

  /**
   * Reads the outlooks of clusters, by their names. One that the service cannot give now is left
   * out.
   */
  private static Map<String, JsonObject> outlooks(Service service, List<JsonObject> states) {
    Map<String, JsonObject> outlooks = new HashMap<>();
    for (JsonObject state : states) {
      String cluster = state.getString("cluster");
      try {
        boolean isK8s = K8sCapacity.isK8s(state);
        if (state.getJsonObject(isK8s ? "bid" : "declared") != null) {
          String path =
              (isK8s ? "/api/k8s/bid" : CAPACITY) + "/outlook?cluster=" + Service.encoded(cluster);
          outlooks.put(cluster, service.call("GET", path, null, OUTLOOK_TIMEOUT));
        }
      } catch (RefusedException e) {
        // The status is useful without outlooks, and the service may be overloaded.
        break;
      }
    }
    return outlooks;
  }

  private void watch(Service service) throws RefusedException {
    AnswerFormat.Form form = format.get().form();
    boolean isK8s =
        clusterNamed().isPresent()
            && K8sCapacity.isK8s(named(service, clusterNamed().orElseThrow()));
    ClusterEventStream events =
        new ClusterEventStream(
            service, environment(), about(isK8s ? "/api/k8s/events" : "/api/vm/events"));
    events.follow(
        received -> {
          if (form == AnswerFormat.Form.json) {
            out()
                .println(
                    new JsonObject()
                        .put("id", received.id())
                        .put("event", received.kind())
                        .put("data", received.data())
                        .encode());
            out().flush();
            return;
          }
          ClusterEventStream.Event event =
              new ClusterEventStream.Event(
                  received.id(), received.kind(), K8sCapacity.of(received.data()));
          if (environment().hasTerminal()) {
            watched.take(event);
            out().print(StatusText.CLEAR + watched.text());
          } else {
            out().println(StatusText.line(event, environment().clock().instant()));
          }
          out().flush();
        },
        lost -> {
          err().println(lost + "; trying again");
          err().flush();
        });
  }
}
