"""The tables of realtime, and what Django's models cannot say of them on PostgreSQL."""

import django.db.models.deletion
import django.utils.timezone
import realtime.models
from django.conf import settings
from django.db import migrations, models

def leave_room(apps, schema_editor):
    """Space in each page for the next version of a row that every message changes (HOT)."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("ALTER TABLE realtime_stream SET (fillfactor = 70)")


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Stream',
            fields=[
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('epoch', models.CharField(default=realtime.models.new_epoch, max_length=16)),
                ('head_seq', models.BigIntegerField(default=0)),
                ('min_seq', models.BigIntegerField(default=0)),
            ],
            options={
                'verbose_name': 'event log',
                'verbose_name_plural': 'event logs',
            },
        ),
        migrations.CreateModel(
            name='Call',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('conversation_id', models.BigIntegerField(verbose_name='conversation')),
                ('media', models.CharField(choices=[('audio', 'audio'), ('video', 'video')], max_length=5, verbose_name='media')),
                ('state', models.CharField(choices=[('ringing', 'ringing'), ('connecting', 'connecting'), ('active', 'active'), ('ended', 'ended')], default='ringing', max_length=10, verbose_name='state')),
                ('outcome', models.CharField(blank=True, choices=[('completed', 'completed'), ('missed', 'missed'), ('canceled', 'canceled'), ('declined', 'declined'), ('busy', 'busy'), ('failed', 'failed'), ('lost', 'lost')], max_length=9, verbose_name='outcome')),
                ('client_id', models.CharField(blank=True, max_length=64, null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='created at')),
                ('expires_at', models.DateTimeField()),
                ('answered_at', models.DateTimeField(blank=True, null=True, verbose_name='answered at')),
                ('ended_at', models.DateTimeField(blank=True, null=True, verbose_name='ended at')),
                ('callee', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='callee')),
                ('caller', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='caller')),
            ],
            options={
                'verbose_name': 'call',
                'verbose_name_plural': 'calls',
            },
        ),
        migrations.CreateModel(
            name='CallParticipant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('live', models.BooleanField(default=True)),
                ('session_id', models.BigIntegerField(blank=True, null=True)),
                ('socket_id', models.CharField(blank=True, max_length=16)),
                ('connected_at', models.DateTimeField(blank=True, null=True)),
                ('gone_at', models.DateTimeField(blank=True, null=True)),
                ('client_id', models.CharField(blank=True, max_length=64, null=True)),
                ('candidates', models.PositiveSmallIntegerField(default=0)),
                ('call', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='participants', to='realtime.call')),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'call participant',
                'verbose_name_plural': 'call participants',
            },
        ),
        migrations.CreateModel(
            name='Event',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.BigIntegerField()),
                ('type', models.CharField(max_length=32)),
                ('conversation_id', models.BigIntegerField(null=True)),
                ('object_id', models.BigIntegerField(null=True)),
                ('extra', models.JSONField(null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'event',
                'verbose_name_plural': 'events',
            },
        ),
        migrations.CreateModel(
            name='Socket',
            fields=[
                ('id', models.CharField(max_length=16, primary_key=True, serialize=False)),
                ('session_id', models.BigIntegerField()),
                ('acked_seq', models.BigIntegerField(default=0)),
                ('opened_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('seen_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'socket',
                'verbose_name_plural': 'sockets',
            },
        ),
        migrations.AddIndex(
            model_name='call',
            index=models.Index(condition=models.Q(('state', 'ended'), _negated=True), fields=['expires_at'], name='call_due'),
        ),
        migrations.AddIndex(
            model_name='call',
            index=models.Index(fields=['created_at'], name='call_created'),
        ),
        migrations.AddConstraint(
            model_name='call',
            constraint=models.UniqueConstraint(fields=('caller', 'client_id'), name='call_client_id'),
        ),
        migrations.AddConstraint(
            model_name='call',
            constraint=models.CheckConstraint(condition=models.Q(('caller', models.F('callee')), _negated=True), name='call_needs_two'),
        ),
        migrations.AddConstraint(
            model_name='call',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('ended_at__isnull', False), ('state', 'ended'), models.Q(('outcome', ''), _negated=True)), models.Q(models.Q(('state', 'ended'), _negated=True), ('ended_at', None), ('outcome', '')), _connector='OR'), name='call_ends_with_an_outcome'),
        ),
        migrations.AddIndex(
            model_name='callparticipant',
            index=models.Index(fields=['user', '-call'], name='callparticipant_history'),
        ),
        migrations.AddIndex(
            model_name='callparticipant',
            index=models.Index(condition=models.Q(('live', True)), fields=['socket_id'], name='callparticipant_socket'),
        ),
        migrations.AddConstraint(
            model_name='callparticipant',
            constraint=models.UniqueConstraint(fields=('call', 'user'), name='callparticipant_once'),
        ),
        migrations.AddConstraint(
            model_name='callparticipant',
            constraint=models.UniqueConstraint(condition=models.Q(('live', True)), fields=('user',), name='callparticipant_one_live'),
        ),
        migrations.AddConstraint(
            model_name='callparticipant',
            constraint=models.UniqueConstraint(condition=models.Q(('client_id__isnull', False)), fields=('user', 'client_id'), name='callparticipant_client_id'),
        ),
        migrations.AddConstraint(
            model_name='event',
            constraint=models.UniqueConstraint(fields=('user', 'seq'), name='event_user_seq'),
        ),
        migrations.AddIndex(
            model_name='socket',
            index=models.Index(fields=['seen_at'], name='socket_seen'),
        ),
        migrations.RunPython(leave_room, migrations.RunPython.noop),
    ]
