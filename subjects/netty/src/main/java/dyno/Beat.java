package dyno;

import io.netty.channel.Channel;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Sends a message at once and then every so often, until the channel closes. */
final class Beat {

    private static final Pattern PERIOD = Pattern.compile("[1-9][0-9]{0,8}");

    private Beat() {}

    static void start(Channel channel, int seconds, Supplier<Object> message) {
        Future<?> beats = channel.eventLoop().scheduleAtFixedRate(
                () -> channel.writeAndFlush(message.get()), 0, seconds, TimeUnit.SECONDS);
        channel.closeFuture().addListener(closed -> beats.cancel(false));
    }

    /** The number of seconds that follows a prefix in a path, or 0. */
    static int period(String path, String prefix) {
        Matcher matcher = PERIOD.matcher(path.substring(prefix.length()));
        return matcher.matches() ? Integer.parseInt(matcher.group()) : 0;
    }
}
