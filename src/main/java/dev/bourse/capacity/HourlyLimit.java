package dev.bourse.capacity;

import dev.bourse.access.LimitStore;
import dev.bourse.access.TokenLimits;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Price;
import dev.bourse.store.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The limit of a writer on the hourly cost of all clusters that it declared last. The commit checks
 * it on the stored rows: it locks the writer's row, so that writes of several clusters run one
 * after the other in all processes, and checks the sum after it has written the cluster.
 *
 * @param tokenId the token that writes; empty for a member
 * @param grantId the OAuth consent by which an application writes; null for a token
 * @param actor the writer's name in records
 * @param maxCents the limit, in cents an hour
 */
record HourlyLimit(
    String tokenId, @Nullable String grantId, String orgId, String actor, long maxCents) {

  /** Returns the first statement of the commit: it locks the writer's row. */
  Statement lock() {
    return LimitStore.lock(tokenId, grantId);
  }

  /** Returns the check of the sum, which follows the update of the cluster's row. */
  Statement demand() {
    List<@Nullable Object> parameters =
        new ArrayList<>(Arrays.asList(grantId == null ? tokenId : grantId, actor, orgId));
    if (grantId != null) {
      parameters.add(grantId);
    }
    parameters.add(maxCents);
    String row = grantId == null ? "token" : "oauth_grant";
    String key = grantId == null ? "token_id" : "grant_id";
    return new Statement(
        """
        UPDATE %s SET %s = %s WHERE %s = ? AND (SELECT COALESCE(SUM(c.max_gpus * c.ceiling_cents), 0)
        FROM cluster c WHERE c.declared_by = ? AND c.org_id = ? AND c.max_gpus > 0
        AND c.retired_at IS NULL%s) <= ?\
        """
            .formatted(row, key, key, key, grantId == null ? "" : " AND c.declared_with = ?"),
        parameters,
        this::refusal,
        1);
  }

  private ApiException refusal() {
    return ApiException.of(
            ErrorCode.TOKEN_LIMIT,
            "together with other clusters that the token declared at the same time, this is beyond"
                + " its limit max_hourly_usd; expected at most %s an hour over all of them. Nothing"
                + " was written",
            Price.shown(maxCents))
        .with("limit", TokenLimits.MAX_HOURLY)
        .with("maximum", Price.toUsd(maxCents));
  }
}
