package dev.bourse.edge.limits;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.util.ByteProcessor;
import io.netty.util.ReferenceCountUtil;

/**
 * Counts the bytes that wait in a connection's decoder or behind it. The decoder keeps an
 * incomplete head, and Vert.x keeps the requests behind an unanswered one; neither limits the total
 * of all connections.
 */
final class UnreadBytesHandler extends ChannelInboundHandlerAdapter {
  /** A buffer above this size is copied if it holds little, so that the rest can be freed. */
  private static final int SPACIOUS_BYTES = 4_096;

  private final Connections connections;
  private final OpenConnection connection;

  UnreadBytesHandler(Connections connections, OpenConnection connection) {
    this.connections = connections;
    this.connection = connection;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (!(message instanceof ByteBuf read)) {
      context.fireChannelRead(message);
      return;
    }
    ByteBuf bytes = connection.isBetweenRequests() ? compact(context, read) : read;
    boolean isBehind = connection.isAnswering();
    boolean wasBetween = connection.isBetweenRequests();
    int entered = connection.entered();
    int start = bytes.readerIndex();
    int length = bytes.readableBytes();
    // A second reference afterwards shows that the decoder has kept the buffer.
    bytes.retain();
    try {
      context.fireChannelRead(bytes);
      if (connection.isInBody()) {
        // The code that collects a body counts its bytes; until then they are few.
        if (connection.isHeldBack() && bytes.refCnt() > 1) {
          context.channel().config().setAutoRead(false);
        }
        return;
      }
      boolean isPart =
          bytes.refCnt() > 1
              // The decoder has read whole lines and keeps them as headers of an unfinished head.
              || (wasBetween && connection.isBetweenRequests() && connection.entered() == entered)
              || (!connection.hadBody() && endsWithinHead(bytes, start, length));
      if (isPart || connection.isAnswering()) {
        connections.reserveUnread(
            connection, OpenConnection.weight(length, lines(bytes, start, length)), isPart);
        connection.isPipelined |= isBehind;
      } else {
        connection.settled();
      }
    } finally {
      bytes.release();
      if (!context.channel().isWritable()) {
        // A client that does not read its responses may not send further requests.
        context.channel().config().setAutoRead(false);
      }
    }
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    if (context.channel().isWritable()) {
      context.channel().config().setAutoRead(true);
    }
    context.fireChannelWritabilityChanged();
  }

  /**
   * Drops the decoder's bytes at once. Vert.x releases those of a closed connection only in the
   * loop's next turn, and thousands of connections may be closed in this one.
   */
  static void forget(ChannelPipeline pipeline) {
    ChannelHandlerContext decoder = pipeline.context(HttpRequestDecoder.class);
    if (decoder != null) {
      // On removal the decoder passes on unread bytes, which no later handler would release.
      pipeline.addAfter(decoder.name(), null, new Discarding());
      pipeline.remove(decoder.handler());
    }
  }

  /** Releases the bytes of a closed connection. */
  private static final class Discarding extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      ReferenceCountUtil.release(message);
    }
  }

  /** Copies a few bytes out of a large buffer, which would otherwise be held while they wait. */
  private static ByteBuf compact(ChannelHandlerContext context, ByteBuf read) {
    if (read.capacity() <= SPACIOUS_BYTES || read.readableBytes() > read.capacity() / 2) {
      return read;
    }
    ByteBuf copy = context.alloc().directBuffer(read.readableBytes()).writeBytes(read);
    read.release();
    return copy;
  }

  /** Returns whether a line ends here that is not the empty one at the end of a head. */
  private static boolean endsWithinHead(ByteBuf bytes, int start, int length) {
    int last = start + length - 1;
    if (length < 2 || bytes.getByte(last) != '\n') {
      return false;
    }
    int before = bytes.getByte(last - 1) == '\r' ? last - 2 : last - 1;
    return before < start || bytes.getByte(before) != '\n';
  }

  private static int lines(ByteBuf bytes, int start, int length) {
    int lines = 0;
    int end = start + length;
    int at = start;
    while (at < end) {
      int found = bytes.forEachByte(at, end - at, ByteProcessor.FIND_LF);
      if (found < 0) {
        break;
      }
      lines++;
      at = found + 1;
    }
    return lines;
  }
}
