package dev.bourse.org;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.access.TokenLimits;
import dev.bourse.core.Text;
import dev.bourse.schemas.common.PoolPricesJson;
import dev.bourse.schemas.org.AddressableClusterJson;
import dev.bourse.schemas.org.ServedVersionJson;
import dev.bourse.schemas.org.TokenBudgetJson;
import dev.bourse.schemas.org.WhoamiJson;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * The answer to whoami, for every kind of caller.
 *
 * @param requestsPerMinute the caller's budget; 0 for none
 * @param served the serving program and store
 * @param pools a cluster's pool and its prices, like those in its capacity state; empty while this
 *     process has not loaded the cluster
 */
public record WhoamiView(
    int requestsPerMinute,
    ServedVersionJson served,
    Function<String, Optional<PoolPricesJson>> pools) {
  /** Returns the answer of the contract. */
  public WhoamiJson toJson(
      Principal caller, List<AddressableCluster> clusters, TokenLimits limits) {
    return new WhoamiJson(
        caller.org().orgId(),
        caller.org().display(),
        caller.org().kind(),
        Scope.labels(caller.scopes()),
        caller.expiresAtMillis(),
        clusters.stream()
            .map(
                cluster ->
                    new AddressableClusterJson(
                        cluster.name(),
                        Text.folded(cluster.kind()),
                        cluster.gpuVendor(),
                        cluster.gpuModel(),
                        pools.apply(cluster.name()).orElse(null)))
            .toList(),
        new TokenBudgetJson(requestsPerMinute),
        limits.toJson(),
        caller.org().sshKeysNeedWrite(),
        served,
        caller.actor(),
        caller.member() == null ? caller.tokenId() : null,
        caller.cluster(),
        caller.member());
  }
}
