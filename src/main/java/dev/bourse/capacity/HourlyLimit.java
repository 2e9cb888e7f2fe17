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
 * That all clusters one writer declared last may cost no more an hour together than its limit. It
 * is judged on what is stored: first the writer's row is locked, so that its writes of several
 * clusters come one after the other whatever process they come from, and the sum is looked at once
 * the cluster is written.
 *
 * @param tokenId the token that writes; empty for a member
 * @param grantId the consent by which an application writes, null for a token
 * @param actor how the writer is recorded
 * @param maxCents the limit, in cents an hour
 */
record HourlyLimit(
    String tokenId, @Nullable String grantId, String orgId, String actor, long maxCents) {

  /** Goes before all else of the commit. */
  Statement lock() {
    return LimitStore.lock(tokenId, grantId);
  }

  /** Goes after the cluster's own row. */
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
            "with what the token declared for other clusters at the same time, this is beyond its"
                + " limit max_hourly_usd; expected at most %s an hour over all of them. Nothing was"
                + " written",
            Price.shown(maxCents))
        .with("limit", TokenLimits.MAX_HOURLY)
        .with("maximum", Price.toUsd(maxCents));
  }
}
