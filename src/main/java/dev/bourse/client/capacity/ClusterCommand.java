package dev.bourse.client.capacity;

import dev.bourse.client.account.SignedInCommand;
import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.remote.Refused;
import dev.bourse.remote.Service;
import io.vertx.core.json.JsonObject;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** A command about one VM cluster. */
public abstract class ClusterCommand extends SignedInCommand {
  static final String CAPACITY = "/api/vm/capacity";

  @Option(
      names = {"-c", "--cluster"},
      paramLabel = "NAME",
      description =
          """
          The cluster meant (environment: BOURSE_CLUSTER); needed only where the organization has \
          several.\
          """)
  private @Nullable String cluster;

  protected ClusterCommand(CommandEnvironment environment) {
    super(environment);
  }

  /** The cluster that was named; empty when none was. */
  protected final Optional<String> clusterNamed() {
    String variable = environment().variables().getOrDefault("BOURSE_CLUSTER", "");
    return cluster != null
        ? Optional.of(cluster)
        : Optional.of(variable).filter(name -> !name.isBlank());
  }

  /** An address about the cluster meant, which goes without its name where none was named. */
  protected final String about(String path) {
    return clusterNamed()
        .map(name -> path + (path.contains("?") ? '&' : '?') + "cluster=" + Service.encoded(name))
        .orElse(path);
  }

  /** Its capacity, as the service tells it now. */
  protected final JsonObject capacity(Service service) throws Refused {
    return service.call("GET", about(CAPACITY), null);
  }

  /** The capacity of a cluster that was told by its name. */
  protected static JsonObject capacity(Service service, String cluster) throws Refused {
    return service.call("GET", CAPACITY + "?cluster=" + Service.encoded(cluster), null);
  }

  /** How the nodes held for a cluster are known when they are logged in to. */
  protected static JsonObject hostKeys(Service service, String cluster) throws Refused {
    String path = CAPACITY + "/host-keys?cluster=" + Service.encoded(cluster);
    return service.call("GET", path, null);
  }
}
