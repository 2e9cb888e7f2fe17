package dev.bourse.app;

import static dev.bourse.store.TableCorrection.capped;
import static dev.bourse.store.TableCorrection.moved;

import dev.bourse.access.MemberCorrection;
import dev.bourse.capacity.CeilingCorrection;
import dev.bourse.capacity.ClusterCorrection;
import dev.bourse.delivery.DeliveryBackoff;
import dev.bourse.mail.StoredMail;
import dev.bourse.market.PriceCorrection;
import dev.bourse.notifications.Notifications;
import dev.bourse.oauth.AuthorizationServer;
import dev.bourse.org.JoinRuleService;
import dev.bourse.store.Correction;
import dev.bourse.store.Database;
import dev.bourse.store.TableCorrection;
import java.util.ArrayList;
import java.util.List;

/**
 * The corrections of all tables in which a time in the future does harm. The test of this class
 * lists every other time column with the reason why it is harmless.
 */
final class Corrections {
  private Corrections() {}

  /**
   * Returns the corrections in order. Members come before the rows that they own, because a member
   * must not be newer than these.
   */
  static List<Correction> of(Database database, AccessControl access, ClusterCorrection clusters) {
    List<Correction> all =
        new ArrayList<>(
            List.of(
                clusters,
                new PriceCorrection(database),
                new CeilingCorrection(database),
                // Ended allocations, by the columns that the correction of clusters does not check.
                new TableCorrection(
                    database,
                    "allocation",
                    """
            gone_at IS NOT NULL AND (granted_at > (SELECT latest FROM clock)
            OR active_at > (SELECT latest FROM clock) OR gone_at > (SELECT latest FROM clock))\
            """,
                    """
            granted_at = CASE WHEN granted_at <= (SELECT latest FROM clock) THEN granted_at
            WHEN reclaim_at < (SELECT now FROM clock) THEN reclaim_at
            ELSE (SELECT now FROM clock) END,
            active_at = CASE WHEN active_at <= (SELECT latest FROM clock) THEN active_at
            WHEN active_at IS NULL THEN NULL
            WHEN reclaim_at < (SELECT now FROM clock) THEN reclaim_at
            ELSE (SELECT now FROM clock) END,
            gone_at = CASE WHEN gone_at > (SELECT latest FROM clock) THEN (SELECT now FROM clock)
            ELSE gone_at END\
            """),
                // A credit for a failed node starts or ends at the present; the order of its rows
                // is kept.
                moved(database, "allocation_health", "ts"),
                moved(database, "bidder_event", "ts"),
                // The time counts toward the clusters that an organization may create within a day.
                moved(database, "cluster", "created_at"),
                new MemberCorrection(database, access.members()),
                access.revocations().correction(),
                // A member's oldest sessions end when there are too many; sessions, links and codes
                // must
                // not live longer.
                moved(database, "member_session", "created_at", "seen_at", "expires_at"),
                moved(database, "member_session", "seen_at"),
                moved(database, "operator_session", "created_at", "expires_at"),
                moved(database, "sign_in_link", "made_at", "expires_at"),
                capped(
                    database,
                    "join_rule",
                    "link_expires_at",
                    JoinRuleService.LINK_VALIDITY.toMillis()),
                moved(
                    database,
                    "oauth_grant",
                    "created_at",
                    "begun_at",
                    "used_at",
                    "idle_until",
                    "expires_at"),
                moved(database, "oauth_grant", "used_at", "idle_until"),
                capped(database, "oauth_code", "expires_at", AuthorizationServer.CODE_MILLIS),
                moved(database, "oauth_device", "created_at", "next_poll_at", "expires_at"),
                moved(database, "oauth_client", "created_at"),
                moved(database, "oauth_client", "used_at"),
                // Only a later use replaces the stored one.
                moved(database, "token", "last_used_at"),
                // A due time in the future delays delivery.
                moved(
                    database,
                    "webhook_delivery",
                    "made_at",
                    "first_try_at",
                    "last_try_at",
                    "due_at"),
                moved(database, "webhook_delivery", "last_try_at", "due_at"),
                moved(database, "webhook_delivery", "first_try_at"),
                moved(database, "trail_stream", "last_try_at", "next_try_at"),
                moved(database, "trail_stream", "first_try_at"),
                capped(database, "trail_stream", "next_try_at", DeliveryBackoff.MOST_MILLIS),
                moved(database, "outbox_mail", "accepted_at", "due_at"),
                capped(database, "outbox_mail", "due_at", StoredMail.LONGEST_PAUSE_MILLIS),
                // An upload uses quota until it expires, and lists show the newest first.
                moved(database, "checkpoint_revision", "created_at", "expires_at"),
                moved(database, "checkpoint_revision", "published_at"),
                moved(database, "checkpoint_history", "published_at"),
                moved(database, "checkpoint", "created_at"),
                moved(database, "checkpoint", "changed_at"),
                moved(database, "checkpoint", "feed_at")));
    all.addAll(Notifications.corrections(database));
    return all;
  }
}
