"""The tables of notifications, and what Django's models cannot say of them on PostgreSQL."""

import django.db.models.deletion
import django.utils.timezone
import notifications.kinds
from django.conf import settings
from django.db import migrations, models

def leave_room(apps, schema_editor):
    """Space in each page for the next version of a row that every message changes (HOT)."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("ALTER TABLE notifications_notification SET (fillfactor = 80)")


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ChannelPause',
            fields=[
                ('channel', models.CharField(max_length=60, primary_key=True, serialize=False, verbose_name='channel')),
                ('reason', models.CharField(max_length=300, verbose_name='reason')),
                ('until', models.DateTimeField(verbose_name='until')),
                ('failures', models.PositiveIntegerField(default=1, verbose_name='failures')),
                ('started_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='since')),
            ],
            options={
                'verbose_name': 'paused channel',
                'verbose_name_plural': 'paused channels',
            },
        ),
        migrations.CreateModel(
            name='Preferences',
            fields=[
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='notification_preferences', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('enabled', models.BooleanField(default=True)),
                ('quiet_mode', models.BooleanField(default=False)),
                ('likes', models.BooleanField(default=True)),
                ('comments', models.BooleanField(default=True)),
                ('follows', models.BooleanField(default=True)),
                ('messages', models.BooleanField(default=True)),
            ],
            options={
                'verbose_name': 'notification preferences',
                'verbose_name_plural': 'notification preferences',
            },
        ),
        migrations.CreateModel(
            name='Device',
            fields=[
                ('name', models.CharField(blank=True, max_length=255, null=True, verbose_name='Name')),
                ('id', models.BigAutoField(primary_key=True, serialize=False, verbose_name='ID')),
                ('registration_id', models.TextField()),
                ('device_id', models.CharField(blank=True, max_length=255, null=True, verbose_name='device id')),
                ('type', models.CharField(choices=[('android', 'Android'), ('ios', 'iOS'), ('web', 'web')], default='android', max_length=10, verbose_name='platform')),
                ('active', models.BooleanField(default=True, verbose_name='in use')),
                ('date_created', models.DateTimeField(default=django.utils.timezone.now, verbose_name='created at')),
                ('token_digest', models.CharField(max_length=64, unique=True)),
                ('failures', models.PositiveSmallIntegerField(default=0, verbose_name='failures')),
                ('locale', models.CharField(blank=True, max_length=35, verbose_name='language')),
                ('app_version', models.CharField(blank=True, max_length=50, verbose_name='app version')),
                ('last_seen_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='last seen')),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='push_devices', to='accounts.session', verbose_name='session')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='push_devices', to=settings.AUTH_USER_MODEL, verbose_name='user')),
            ],
            options={
                'verbose_name': 'push device',
                'verbose_name_plural': 'push devices',
                'permissions': [('send_test_push', 'Can send a test push')],
            },
        ),
        migrations.CreateModel(
            name='IngestedEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.CharField(max_length=60)),
                ('event_id', models.CharField(max_length=128)),
                ('digest', models.CharField(max_length=64)),
                ('created_at', models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
            ],
            options={
                'verbose_name': 'event of another service',
                'constraints': [models.UniqueConstraint(fields=('source', 'event_id'), name='ingestedevent_once')],
            },
        ),
        migrations.CreateModel(
            name='Notification',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=notifications.kinds.choices, max_length=20, verbose_name='type')),
                ('group_key', models.CharField(blank=True, max_length=40)),
                ('is_open', models.BooleanField(default=True, verbose_name='collects further occurrences')),
                ('target_id', models.BigIntegerField(blank=True, null=True, verbose_name='target id')),
                ('target_title', models.CharField(blank=True, max_length=120, verbose_name='target')),
                ('count', models.PositiveIntegerField(default=1, verbose_name='number')),
                ('first_message_id', models.BigIntegerField(blank=True, null=True)),
                ('is_read', models.BooleanField(default=False, verbose_name='read')),
                ('read_at', models.DateTimeField(blank=True, null=True, verbose_name='read at')),
                ('first_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='first occurrence')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='latest occurrence')),
                ('actor', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='from')),
                ('recipient', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='notifications', to=settings.AUTH_USER_MODEL, verbose_name='recipient')),
            ],
            options={
                'verbose_name': 'notification',
                'verbose_name_plural': 'notifications',
            },
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('channel', models.CharField(choices=[('push', 'push'), ('mail', 'mail'), ('webhook', 'webhook')], max_length=10, verbose_name='channel')),
                ('target', models.CharField(blank=True, max_length=40, verbose_name='webhook target')),
                ('kind', models.CharField(max_length=40, verbose_name='kind')),
                ('dedupe_key', models.CharField(max_length=200)),
                ('group_key', models.CharField(blank=True, max_length=100)),
                ('priority', models.PositiveSmallIntegerField(choices=[(0, 'calls'), (1, 'codes'), (2, 'messages'), (3, 'other')], default=3, verbose_name='priority')),
                ('payload', models.JSONField(blank=True, default=dict)),
                ('state', models.CharField(choices=[('pending', 'pending'), ('leased', 'sending'), ('sent', 'sent'), ('dead', 'failed'), ('expired', 'expired'), ('cancelled', 'canceled')], default='pending', max_length=9, verbose_name='state')),
                ('due_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='due at')),
                ('expires_at', models.DateTimeField(verbose_name='expires at')),
                ('lease_until', models.DateTimeField(blank=True, null=True, verbose_name='reserved until')),
                ('tries', models.PositiveSmallIntegerField(default=0, verbose_name='attempts')),
                ('last_error', models.CharField(blank=True, max_length=300, verbose_name='last error')),
                ('provider_id', models.CharField(blank=True, max_length=200, verbose_name='provider id')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='created at')),
                ('touched_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('finished_at', models.DateTimeField(blank=True, null=True, verbose_name='finished at')),
                ('recipient', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='recipient')),
                ('device', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.FCM_DJANGO_FCMDEVICE_MODEL, verbose_name='push device')),
                ('notification', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='notifications.notification', verbose_name='notification')),
            ],
            options={
                'verbose_name': 'delivery',
                'verbose_name_plural': 'deliveries',
                'permissions': [('retry_delivery', 'Can retry deliveries')],
            },
        ),
        migrations.CreateModel(
            name='Occurrence',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('comment_id', models.BigIntegerField(blank=True, null=True)),
                ('is_single', models.BooleanField(default=False)),
                ('occurred_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('actor', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('notification', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='occurrences', to='notifications.notification')),
            ],
            options={
                'verbose_name': 'occurrence in a notification',
                'db_table': 'notifications_member',
            },
        ),
        migrations.AddConstraint(
            model_name='device',
            constraint=models.UniqueConstraint(condition=models.Q(('device_id__isnull', False)), fields=('user', 'device_id'), name='device_once_per_user'),
        ),
        migrations.AddIndex(
            model_name='notification',
            index=models.Index(fields=['recipient', 'is_read'], name='notification_feed'),
        ),
        migrations.AddConstraint(
            model_name='notification',
            constraint=models.UniqueConstraint(condition=models.Q(('is_open', True)), fields=('recipient', 'kind', 'group_key'), name='notification_one_open'),
        ),
        migrations.AddConstraint(
            model_name='notification',
            constraint=models.CheckConstraint(condition=models.Q(('is_open', False), ('is_read', False), _connector='OR'), name='notification_open_is_unread'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('state', 'pending')), fields=['channel', 'priority', 'due_at'], name='delivery_due'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('channel', 'webhook'), ('state', 'pending')), fields=['target', 'id'], name='delivery_webhook'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('channel', 'webhook'), ('finished_at__isnull', False)), fields=['target', '-finished_at'], name='delivery_answers'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('state', 'leased')), fields=['lease_until'], name='delivery_lease'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('state', 'dead')), fields=['id'], name='delivery_dead'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(fields=['device', 'group_key', 'finished_at'], name='delivery_group'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(fields=['notification', 'device', 'finished_at'], name='delivery_notification'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(fields=['recipient', '-id'], name='delivery_recipient'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('finished_at__isnull', False)), fields=['finished_at'], name='delivery_finished'),
        ),
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.UniqueConstraint(fields=('dedupe_key',), name='delivery_once'),
        ),
        migrations.AddIndex(
            model_name='occurrence',
            index=models.Index(fields=['notification', '-occurred_at', '-id'], name='member_latest'),
        ),
        migrations.AddConstraint(
            model_name='occurrence',
            constraint=models.UniqueConstraint(condition=models.Q(('is_single', True)), fields=('notification', 'actor'), name='member_single'),
        ),
        migrations.RunPython(leave_room, migrations.RunPython.noop),
    ]
